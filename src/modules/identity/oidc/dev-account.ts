import { z } from 'zod'

/** An account offered on the development provider's sign-in page. */
export interface DevAccount {
  readonly email: string
  readonly name: string
  /** What the account is for, shown next to its name. */
  readonly hint: string
}

/** An e-mail address as the development provider takes it: in lower case, it is also the account's subject. */
export const DevEmail = z.string().trim().toLowerCase().pipe(z.email().max(200))

/** The claims of an account. Any address is an account, so nothing is kept between sign-ins. */
export function devAccountClaims(accounts: readonly DevAccount[], subject: string) {
  const name = accounts.find(({ email }) => email.toLowerCase() === subject)?.name
  return { email: subject, email_verified: true, ...(name !== undefined && { name }) }
}
