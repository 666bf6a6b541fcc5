import { p } from '@mikro-orm/core'

/** How far the delivery of a mail has come: the columns of every table whose rows are a queue of mails. */
export const deliveryColumns = () => ({
  deliveredAt: p.datetime(3).nullable(),
  /** Attempts that were begun. */
  attempts: p.integer().default(0),
  nextAttemptAt: p.datetime(3).defaultRaw('now()'),
  /** Whoever holds the claim may send; nobody else may until `claimed_until`, by the database's clock. */
  claim: p.uuid().nullable(),
  claimedUntil: p.datetime(3).nullable(),
  lastError: p.text().nullable(),
})
