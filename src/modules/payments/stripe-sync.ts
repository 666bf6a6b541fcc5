import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'

/** Identifies a Stripe event. It says that an object has changed, not how. */
export interface StripeEventRef {
  readonly id: string
  readonly type: string
}

/** Stripe repeats an event for up to three days. A manual replay is possible for a month. */
const EVENT_RETENTION = '40 days'
/** A request ends within seconds, so older rows cannot order any response. */
const OBJECT_RETENTION = '1 day'

/**
 * Creates the synchronization with Stripe's objects. Events arrive late, repeatedly and in any order, so their content is
 * ignored: each event causes a new request for the object, and the response to the latest request wins. The last change
 * has an event too, and its request is later than the change.
 */
export function createStripeSync({ db, transact }: { db: Db; transact: Transact }) {
  return {
    /** Returns whether an event was already processed. */
    async isKnown(eventId: string): Promise<boolean> {
      const row = await db
        .selectFrom('stripe_events')
        .select('id')
        .where('id', '=', eventId)
        .executeTakeFirst()
      return row !== undefined
    },

    /**
     * Requests an object and applies the response, unless the response to a later request is already applied. Applies each
     * event once. The request runs outside the transaction.
     */
    async refreshFromStripe<T>(
      objectId: string,
      fetchObject: () => Promise<T>,
      apply: (tx: Tx, answer: T) => Promise<void>,
      event?: StripeEventRef,
    ): Promise<T> {
      const { at } = await db
        .selectNoFrom(sql<string>`clock_timestamp()::text`.as('at'))
        .executeTakeFirstOrThrow()
      const answer = await fetchObject()
      await transact(async (tx) => {
        if (event && !(await claimEvent(tx, event))) return
        if (await claimObject(tx, objectId, at)) await apply(tx, answer)
      })
      return answer
    },

    /** Deletes events that Stripe no longer repeats, and objects without pending requests. */
    async removeExpired(): Promise<void> {
      await sql`delete from stripe_events where at < now() - ${EVENT_RETENTION}::interval`.execute(db)
      await sql`delete from stripe_objects where asked_at < now() - ${OBJECT_RETENTION}::interval`.execute(db)
    },
  }
}
export type StripeSync = ReturnType<typeof createStripeSync>

/** Records an event. Returns false if it was already processed. */
async function claimEvent(tx: Tx, event: StripeEventRef): Promise<boolean> {
  const claimed = await tx.db
    .insertInto('stripe_events')
    .values({ id: event.id, type: event.type })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return claimed !== undefined
}

/** Records the request time of an object and locks its row. Returns false if a later response is already applied. */
async function claimObject(tx: Tx, id: string, askedAt: string): Promise<boolean> {
  const { rows } = await sql`
    insert into stripe_objects (id, asked_at) values (${id}, ${askedAt}::timestamptz)
    on conflict (id) do update set asked_at = excluded.asked_at
    where stripe_objects.asked_at < excluded.asked_at
    returning id`.execute(tx.db)
  return rows.length > 0
}
