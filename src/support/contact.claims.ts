import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Db, Tables } from '../db/orm.ts'
import type { Transact } from '../events/transactor.ts'
import type { SendContact } from './contact.schema.ts'

export type ContactRow = Selectable<Tables['contact_messages']>
/** A message that the holder of the claim, and nobody else, may send now. */
export type ClaimedContact = ContactRow & { claim: string }

/** A claim ends by itself this long after it was made or renewed. Measured by the database's clock alone. */
const LEASE_MS = 20_000
/** After a claim has ended by itself: time for a holder who is alive after all to report what it did. */
const ABANDONED_DELAY_MS = 10_000

/** The rows of contact messages as a queue: every step is one conditional update. */
export function createContactClaims(parts: {
  db: Db
  transact: Transact
  now: () => Date
  leaseMs?: number
}) {
  const { db, transact, now, leaseMs = LEASE_MS } = parts
  const leaseEnd = sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`
  const settle = (message: ClaimedContact, change: { nextAttemptAt: Date; error?: string }) =>
    db
      .updateTable('contact_messages')
      .set({
        claim: null,
        claimed_until: null,
        next_attempt_at: change.nextAttemptAt,
        ...(change.error !== undefined && { last_error: change.error }),
      })
      .where('id', '=', message.id)
      .where('claim', '=', message.claim)
      .execute()

  return {
    /** How often a holder renews: three renewals may fail. */
    renewEveryMs: leaseMs / 4,

    /** Stores a message; with `claimed`, whoever stored it is the first who may send it. */
    store: (input: SendContact, claimed: boolean): Promise<ContactRow> =>
      transact(
        async (tx) =>
          await tx.db
            .insertInto('contact_messages')
            .values({
              id: randomUUID(),
              ...input,
              created_at: now(),
              next_attempt_at: now(),
              ...(claimed && { claim: randomUUID(), claimed_until: leaseEnd, attempts: 1 }),
            })
            .returningAll()
            .executeTakeFirstOrThrow(),
      ),

    /** Claims the message that has been due for longest, if there is one. */
    async takeDue(): Promise<ClaimedContact | undefined> {
      const taken = await db
        .updateTable('contact_messages')
        .set((eb) => ({ claim: randomUUID(), claimed_until: leaseEnd, attempts: eb('attempts', '+', 1) }))
        .where('id', '=', (eb) =>
          eb
            .selectFrom('contact_messages')
            .select('id')
            .where('delivered_at', 'is', null)
            .where('claim', 'is', null)
            .where('next_attempt_at', '<=', now())
            .orderBy('next_attempt_at')
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .executeTakeFirst()
      return taken && isClaimed(taken) ? taken : undefined
    },

    renew: (message: ClaimedContact) =>
      db
        .updateTable('contact_messages')
        .set({ claimed_until: leaseEnd })
        .where('id', '=', message.id)
        .where('claim', '=', message.claim)
        .execute(),

    /** Records a delivery. It is a fact whoever holds the claim by now, so that nobody sends again. */
    delivered: (message: ClaimedContact) =>
      db
        .updateTable('contact_messages')
        .set({ delivered_at: now(), claim: null, claimed_until: null, last_error: null })
        .where('id', '=', message.id)
        .where('delivered_at', 'is', null)
        .execute(),

    failed: (message: ClaimedContact, nextAttemptAt: Date, error: string) =>
      settle(message, { nextAttemptAt, error }),

    /** Gives a message back unsent: it is due for anybody. */
    release: (message: ClaimedContact) => settle(message, { nextAttemptAt: now() }),

    /** Frees what belonged to processes that died while sending. */
    freeAbandoned: () =>
      db
        .updateTable('contact_messages')
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
export type ContactClaims = ReturnType<typeof createContactClaims>

export const isClaimed = (row: ContactRow): row is ClaimedContact => row.claim !== null
