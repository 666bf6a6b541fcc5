import type { Secrets } from '../../../core/secrets.ts'

/** Returns a keyed hash of a sign-in: it finds a deleted sign-in that comes back, and discloses none. */
export const signInHash = (
  secrets: Pick<Secrets, 'sign'>,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): string => secrets.sign('ended-sign-in', JSON.stringify([issuer, subject]))
