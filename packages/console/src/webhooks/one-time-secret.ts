import type { OneTimeSecret } from '../ui/secret-dialog.tsx'

/** Returns the secret of a webhook with an explanation. */
export const toOneTimeSecret = (title: string, { secret }: { secret: string }): OneTimeSecret => ({
  title,
  note: 'Copy it now. You will not see it again. Use it to verify signatures (Standard Webhooks).',
  label: 'Secret',
  value: secret,
})
