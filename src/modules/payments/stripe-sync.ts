import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'

/** An event of the provider: that something has changed, not what. */
export interface StripeEventRef {
  readonly id: string
  readonly type: string
}

/** The provider tells of an event for three days at the most; a replay by hand may come up to a month later. */
const EVENTS_KEPT = '40 days'
/** A question is answered within seconds, or never. */
const OBJECTS_KEPT = '1 day'

/**
 * Takes over what the provider says of its objects. Its events come late, twice and in any order, so nothing they
 * carry is believed: the object is asked for anew, and the answer to the later question stands. Whatever changed
 * last has an event of its own, whose question is later than the change.
 */
export function createStripeSync({ db, transact }: { db: Db; transact: Transact }) {
  return {
    /** Whether an event was carried out already. */
    async isKnown(eventId: string): Promise<boolean> {
      const row = await db
        .selectFrom('stripe_events')
        .select('id')
        .where('id', '=', eventId)
        .executeTakeFirst()
      return row !== undefined
    },

    /**
     * Asks for an object and applies the answer, unless a later question was answered first. With an event, once
     * for that event. The asking is outside the transaction.
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

    /** Forgets events that do not come any more, and objects of which no older answer can still arrive. */
    async removeExpired(): Promise<void> {
      await sql`delete from stripe_events where at < now() - ${EVENTS_KEPT}::interval`.execute(db)
      await sql`delete from stripe_objects where asked_at < now() - ${OBJECTS_KEPT}::interval`.execute(db)
    },
  }
}
export type StripeSync = ReturnType<typeof createStripeSync>

/** False when the event was carried out by somebody else. */
async function claimEvent(tx: Tx, event: StripeEventRef): Promise<boolean> {
  const claimed = await tx.db
    .insertInto('stripe_events')
    .values({ id: event.id, type: event.type })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return claimed !== undefined
}

/** False when what is known of the object is newer. Holds others back until the end of the transaction. */
async function claimObject(tx: Tx, id: string, askedAt: string): Promise<boolean> {
  const { rows } = await sql`
    insert into stripe_objects (id, asked_at) values (${id}, ${askedAt}::timestamptz)
    on conflict (id) do update set asked_at = excluded.asked_at
    where stripe_objects.asked_at < excluded.asked_at
    returning id`.execute(tx.db)
  return rows.length > 0
}
