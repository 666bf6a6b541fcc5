import type { Kysely, Selectable } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'

/** The common columns of the tables that store mails. */
export interface MailRow {
  readonly id: string
  readonly attempts: number
  readonly delivered_at: Date | null
  readonly next_attempt_at: Date
  readonly last_error: string | null
}

export type MailTable = 'contact_messages' | 'notification_mails' | 'organization_invitations'

/** Creates the store of the delivery state of mails. Every step is one conditional update. */
export function createMailStore<T extends MailTable>(deps: { db: Db; now: () => Date; table: T }) {
  type Row = Selectable<Tables[T]> & MailRow
  const { now } = deps
  // The query builder cannot type a table that is a parameter. This table represents both.
  const db = deps.db as unknown as Kysely<{ mails: MailRow }>
  const table = deps.table as unknown as 'mails'
  const undelivered = (id: string) =>
    db.updateTable(table).where('id', '=', id).where('delivered_at', 'is', null)

  return {
    /** Counts an attempt. Returns undefined when the mail is delivered or removed. */
    begin: (id: string, abandoned: boolean): Promise<Row | undefined> =>
      undelivered(id)
        .set((eb) => ({
          attempts: eb('attempts', '+', 1),
          ...(abandoned && { last_error: 'The sending process ended. The mail may have been delivered.' }),
        }))
        .returningAll()
        .executeTakeFirst() as Promise<Row | undefined>,

    delivered: (id: string) => undelivered(id).set({ delivered_at: now(), last_error: null }).execute(),

    failed: (id: string, nextAttemptAt: Date, error: string) =>
      undelivered(id).set({ next_attempt_at: nextAttemptAt, last_error: error }).execute(),

    /** Removes a mail that must not be sent any more. */
    drop: (id: string) =>
      db.deleteFrom(table).where('id', '=', id).where('delivered_at', 'is', null).execute(),
  }
}
