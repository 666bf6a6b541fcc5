import { randomUUID } from 'node:crypto'
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'

/** The common columns of the tables that store mails to send. */
export interface QueueRow {
  readonly id: string
  readonly attempts: number
  readonly delivered_at: Date | null
  readonly next_attempt_at: Date
  readonly claim: string | null
  readonly claimed_until: Date | null
  readonly last_error: string | null
}
/** A mail that only the holder of the claim may send now. */
export type ClaimedMail<Row extends QueueRow> = Row & { readonly claim: string }

/** How long a claim is valid after it was made or renewed, by the clock of the database. */
const LEASE_MS = 20_000
/** The delay after a claim expired, in which a holder that is still alive can record its result. */
const ABANDONED_DELAY_MS = 10_000

export interface MailQueueOptions {
  readonly db: Db
  readonly now: () => Date
  readonly leaseMs?: number
}

/** Creates a queue of mails on a table. Every step is one conditional update. */
export function createMailQueue<T extends 'contact_messages' | 'notification_mails'>(
  deps: MailQueueOptions & { table: T; urgentFirst?: boolean },
) {
  type Row = Selectable<Tables[T]> & QueueRow
  const { now, leaseMs = LEASE_MS, urgentFirst = false } = deps
  // The query builder cannot type a table that is a parameter. This table represents both.
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
    /** How often a holder renews its claim: three renewals may fail. */
    renewEveryMs: leaseMs / 4,

    /** Returns the claim columns of a new row: the process that inserts it may send it first. */
    firstClaim: () => ({ claim: randomUUID(), claimed_until: leaseEnd, attempts: 1 }),

    /** Claims the mail that has been due for longest, if any. */
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

    /** Records a delivery, regardless of the current claim, so that the mail is not sent again. */
    delivered: (mail: ClaimedMail<Row>) =>
      db
        .updateTable(table)
        .set({ delivered_at: now(), claim: null, claimed_until: null, last_error: null })
        .where('id', '=', mail.id)
        .where('delivered_at', 'is', null)
        .execute(),

    failed: (mail: ClaimedMail<Row>, nextAttemptAt: Date, error: string) =>
      endClaim(mail, { nextAttemptAt, error }),

    /** Releases an unsent mail: it is due for every process. */
    release: (mail: ClaimedMail<Row>) => endClaim(mail, { nextAttemptAt: now() }),

    /** Removes a mail that must not be sent any more. */
    drop: (mail: ClaimedMail<Row>) =>
      db.deleteFrom(table).where('id', '=', mail.id).where('claim', '=', mail.claim).execute(),

    /** Releases mails whose sending process died. */
    freeAbandoned: () =>
      db
        .updateTable(table)
        .set({
          claim: null,
          claimed_until: null,
          next_attempt_at: new Date(now().getTime() + ABANDONED_DELAY_MS),
          last_error: 'The sending process ended. The mail may have been delivered.',
        })
        .where('delivered_at', 'is', null)
        .where('claimed_until', '<', sql<Date>`now()`)
        .execute(),
  }
}
/** The operations of a queue that a delivery uses. */
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
