import { p } from '@mikro-orm/core'

/** Returns the delivery state columns of a table whose rows are a queue of mails. */
export const deliveryColumns = () => ({
  deliveredAt: p.datetime(3).nullable(),
  /** Attempts that were started. */
  attempts: p.integer().default(0),
  nextAttemptAt: p.datetime(3).defaultRaw('now()'),
  /**
   * The claim of the process that may send the mail. It is exclusive until `claimed_until`, by the clock of the
   * database.
   */
  claim: p.uuid().nullable(),
  claimedUntil: p.datetime(3).nullable(),
  lastError: p.text().nullable(),
})
