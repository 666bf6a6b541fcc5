import { z } from 'zod'

/** An account offered on the development provider's sign-in page. */
export interface DevAccount {
  readonly email: string
  readonly name: string
  readonly role: 'owner' | 'operator' | 'admin'
  /** What the account is for. The page shows it next to the role. */
  readonly hint: string
}

/** Validates an e-mail address and lowers its case. The result is also the account's subject. */
export const DevEmail = z.string().trim().toLowerCase().pipe(z.email().max(200))

/** Returns the claims of an account. Any address is an account, so the provider stores no accounts. */
export function devAccountClaims(accounts: readonly DevAccount[], subject: string) {
  const name = accounts.find(({ email }) => email.toLowerCase() === subject)?.name
  return { email: subject, email_verified: true, ...(name !== undefined && { name }) }
}
