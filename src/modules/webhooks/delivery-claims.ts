import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { DeliveryRow, WebhookRow } from './webhook.view.ts'

/** A webhook that its holder, and nobody else, delivers to. */
export interface ClaimedWebhook {
  readonly id: string
  readonly claim: string
  /** Attempts in a row that had not arrived. */
  readonly failures: number
}
export interface DeliveryJob {
  readonly webhook: WebhookRow
  readonly delivery: DeliveryRow
}

/** Longer than one attempt and recording it may take; renewed before each. By the database's clock alone. */
const LEASE_MS = 45_000

/**
 * Webhooks as a queue: whoever holds one delivers what is due there, one after another, so that each receiver is called
 * once at a time and in order. A holder that dies loses its claim after a while; what it had in hand is due as before.
 */
export function createDeliveryClaims(deps: {
  db: Db
  transact: Transact
  now: () => Date
  leaseMs?: number
}) {
  const { db, transact, now, leaseMs = LEASE_MS } = deps
  const leaseEnd = sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`

  return {
    /** Claims the webhook that has been due for longest; with `healthyOnly`, of those whose last attempt arrived. */
    async claimNext(healthyOnly: boolean): Promise<ClaimedWebhook | undefined> {
      const at = now()
      const taken = await db
        .updateTable('webhooks')
        .set({ claim: sql<string>`gen_random_uuid()`, claimed_until: leaseEnd })
        .where('id', '=', (eb) =>
          eb
            .selectFrom('webhooks')
            .select('id')
            .where('due_at', '<=', at)
            .where((or) => or.or([or('paused_until', 'is', null), or('paused_until', '<=', at)]))
            .where((or) =>
              or.or([or('claimed_until', 'is', null), or('claimed_until', '<', sql<Date>`now()`)]),
            )
            .$if(healthyOnly, (query) => query.where('failures', '=', 0))
            .orderBy('due_at')
            .limit(1)
            .forNoKeyUpdate()
            .skipLocked(),
        )
        .returning(['id', 'claim', 'failures'])
        .executeTakeFirst()
      return taken as ClaimedWebhook | undefined
    },

    /** Renews the claim and begins the next attempt that is due; undefined when there is none, or the claim is lost. */
    async next({ id, claim }: ClaimedWebhook): Promise<DeliveryJob | undefined> {
      const webhook = await db
        .updateTable('webhooks')
        .set({ claimed_until: leaseEnd })
        .where('id', '=', id)
        .where('claim', '=', claim)
        .where('enabled', '=', true)
        .returningAll()
        .executeTakeFirst()
      if (!webhook) return undefined
      const at = now()
      const delivery = await db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ attempts: eb('attempts', '+', 1), attempted_at: at }))
        .where('number', '=', (eb) =>
          eb
            .selectFrom('webhook_deliveries')
            .select('number')
            .where('webhook_id', '=', id)
            .where('status', '=', 'PENDING')
            .where('next_attempt_at', '<=', at)
            .orderBy('next_attempt_at')
            .orderBy('number')
            .limit(1),
        )
        .where('status', '=', 'PENDING')
        .returningAll()
        .executeTakeFirst()
      return delivery && { webhook, delivery }
    },

    /** Takes back the beginning of an attempt that was not carried out. */
    revertAttempt: ({ delivery }: DeliveryJob) =>
      db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
        .where('number', '=', delivery.number)
        .where('status', '=', 'PENDING')
        .execute(),

    /**
     * Gives a webhook back. It goes behind all that are due by now, however much waits for it. Its row is locked before
     * what waits is looked at, so that nothing that is being added is overlooked.
     */
    release: ({ id, claim }: ClaimedWebhook) =>
      transact(async ({ db: trx }) => {
        const claimed = await trx
          .selectFrom('webhooks')
          .select('enabled')
          .where('id', '=', id)
          .where('claim', '=', claim)
          .forNoKeyUpdate()
          .executeTakeFirst()
        if (!claimed) return
        const { next } = await trx
          .selectFrom('webhook_deliveries')
          .select((eb) => eb.fn.min('next_attempt_at').as('next'))
          .where('webhook_id', '=', id)
          .where('status', '=', 'PENDING')
          .executeTakeFirstOrThrow()
        const at = now()
        const due = next && next < at ? at : next
        await trx
          .updateTable('webhooks')
          .set({ claim: null, claimed_until: null, due_at: claimed.enabled ? due : null })
          .where('id', '=', id)
          .execute()
      }),
  }
}
export type DeliveryClaims = ReturnType<typeof createDeliveryClaims>
