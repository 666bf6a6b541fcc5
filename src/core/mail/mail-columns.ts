import { p } from '@mikro-orm/core'

/** Returns the delivery state columns of a table of mails. A job per row sends the mail. */
export const deliveryColumns = () => ({
  deliveredAt: p.datetime(3).nullable(),
  /** Attempts that were started. */
  attempts: p.integer().default(0),
  /** When the next attempt is due, as of the latest result. */
  nextAttemptAt: p.datetime(3).defaultRaw('now()'),
  lastError: p.text().nullable(),
})
