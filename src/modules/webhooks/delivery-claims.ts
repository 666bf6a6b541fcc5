import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { DeliveryRow, WebhookRow } from './webhook.view.ts'

/** A webhook with an exclusive claim to deliver to it. */
export interface ClaimedWebhook {
  readonly id: string
  readonly claim: string
  /** Number of consecutive failed attempts. */
  readonly failures: number
}
export interface DeliveryJob {
  readonly webhook: WebhookRow
  readonly delivery: DeliveryRow
}

/** Lease of a claim, measured by the database's clock. It exceeds the time of an attempt and is renewed before each one. */
const LEASE_MS = 45_000

/**
 * Creates the queue of webhooks. The worker that has claimed a webhook sends its due deliveries one after another, so that
 * a receiver gets one request at a time and in order. The claim of a crashed worker expires; its deliveries stay due.
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
    /** Claims the webhook that has been due longest. With `healthyOnly`, skips webhooks whose last attempt failed. */
    async claimNext(healthyOnly: boolean): Promise<ClaimedWebhook | undefined> {
      const at = now()
      const claimed = await db
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
      return claimed as ClaimedWebhook | undefined
    },

    /** Renews the claim and starts the next due attempt. Returns undefined if no delivery is due or the claim is lost. */
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

    /** Reverts the start of an attempt that did not run. */
    revertAttempt: ({ delivery }: DeliveryJob) =>
      db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
        .where('number', '=', delivery.number)
        .where('status', '=', 'PENDING')
        .execute(),

    /**
     * Releases a webhook and queues it behind all webhooks that are due now. It locks the row before it reads the pending
     * deliveries, so that it does not miss concurrent inserts.
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
