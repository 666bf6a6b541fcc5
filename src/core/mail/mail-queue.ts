import { randomUUID } from 'node:crypto'
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'

/** What the rows of all tables have in common that hold mails to be sent. */
export interface QueueRow {
  readonly id: string
  readonly attempts: number
  readonly delivered_at: Date | null
  readonly next_attempt_at: Date
  readonly claim: string | null
  readonly claimed_until: Date | null
  readonly last_error: string | null
}
/** A mail that the holder of the claim, and nobody else, may send now. */
export type ClaimedMail<Row extends QueueRow> = Row & { readonly claim: string }

/** A claim ends by itself this long after it was made or renewed. Measured by the database's clock alone. */
const LEASE_MS = 20_000
/** After a claim has ended by itself: time for a holder who is alive after all to report what it did. */
const ABANDONED_DELAY_MS = 10_000

export interface MailQueueOptions {
  readonly db: Db
  readonly now: () => Date
  readonly leaseMs?: number
}

/** The rows of a table as a queue of mails: every step is one conditional update. */
export function createMailQueue<T extends 'contact_messages' | 'notification_mails'>(
  deps: MailQueueOptions & { table: T; urgentFirst?: boolean },
) {
  type Row = Selectable<Tables[T]> & QueueRow
  const { now, leaseMs = LEASE_MS, urgentFirst = false } = deps
  // The query builder cannot follow a table that is a parameter; the one named here stands for any of them.
  const db = deps.db as unknown as Kysely<{ mails: QueueRow & { readonly urgent: boolean } }>
  const table = deps.table as unknown as 'mails'
  const leaseEnd = sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`

  const endClaim = (mail: ClaimedMail<Row>, change: { nextAttemptAt: Date; error?: string }) =>
    db
      .updateTable(table)
      .set({
        claim: null,
        claimed_until: null,
        next_attempt_at: change.nextAttemptAt,
        ...(change.error !== undefined && { last_error: change.error }),
      })
      .where('id', '=', mail.id)
      .where('claim', '=', mail.claim)
      .execute()

  return {
    /** How often a holder renews: three renewals may fail. */
    renewEveryMs: leaseMs / 4,

    /** For a row that is being stored: whoever stores it is the first who may send it. */
    firstClaim: () => ({ claim: randomUUID(), claimed_until: leaseEnd, attempts: 1 }),

    /** Claims the mail that has been due for longest, if there is one. */
    async takeDue(): Promise<ClaimedMail<Row> | undefined> {
      const taken = await db
        .updateTable(table)
        .set((eb) => ({ claim: randomUUID(), claimed_until: leaseEnd, attempts: eb('attempts', '+', 1) }))
        .where('id', '=', (eb) =>
          eb
            .selectFrom(table)
            .select('id')
            .where('delivered_at', 'is', null)
            .where('claim', 'is', null)
            .where('next_attempt_at', '<=', now())
            .$if(urgentFirst, (query) => query.orderBy('urgent', 'desc'))
            .orderBy('next_attempt_at')
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .executeTakeFirst()
      return taken as ClaimedMail<Row> | undefined
    },

    renew: (mail: ClaimedMail<Row>) =>
      db
        .updateTable(table)
        .set({ claimed_until: leaseEnd })
        .where('id', '=', mail.id)
        .where('claim', '=', mail.claim)
        .execute(),

    /** Records a delivery. It is a fact whoever holds the claim by now, so that nobody sends again. */
    delivered: (mail: ClaimedMail<Row>) =>
      db
        .updateTable(table)
        .set({ delivered_at: now(), claim: null, claimed_until: null, last_error: null })
        .where('id', '=', mail.id)
        .where('delivered_at', 'is', null)
        .execute(),

    failed: (mail: ClaimedMail<Row>, nextAttemptAt: Date, error: string) =>
      endClaim(mail, { nextAttemptAt, error }),

    /** Gives a mail back unsent: it is due for anybody. */
    release: (mail: ClaimedMail<Row>) => endClaim(mail, { nextAttemptAt: now() }),

    /** Forgets a mail that is not to be sent any more. */
    drop: (mail: ClaimedMail<Row>) =>
      db.deleteFrom(table).where('id', '=', mail.id).where('claim', '=', mail.claim).execute(),

    /** Frees what belonged to processes that died while sending. */
    freeAbandoned: () =>
      db
        .updateTable(table)
        .set({
          claim: null,
          claimed_until: null,
          next_attempt_at: new Date(now().getTime() + ABANDONED_DELAY_MS),
          last_error: 'The process that was sending it ended; whether it arrived is not known',
        })
        .where('delivered_at', 'is', null)
        .where('claimed_until', '<', sql<Date>`now()`)
        .execute(),
  }
}
/** What sending asks of a queue. */
export interface MailQueue<Row extends QueueRow> {
  readonly renewEveryMs: number
  takeDue(): Promise<ClaimedMail<Row> | undefined>
  renew(mail: ClaimedMail<Row>): Promise<unknown>
  delivered(mail: ClaimedMail<Row>): Promise<unknown>
  failed(mail: ClaimedMail<Row>, nextAttemptAt: Date, error: string): Promise<unknown>
  release(mail: ClaimedMail<Row>): Promise<unknown>
  drop(mail: ClaimedMail<Row>): Promise<unknown>
  freeAbandoned(): Promise<unknown>
}

export const isClaimed = <Row extends QueueRow>(row: Row): row is ClaimedMail<Row> => row.claim !== null
