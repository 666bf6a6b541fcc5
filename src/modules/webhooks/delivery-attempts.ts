import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { hasActiveOwner } from './active-owner.ts'
import type { DeliveryRow, WebhookRow } from './webhook.view.ts'

/** A delivery whose attempt has started. */
export interface StartedDelivery {
  readonly webhook: WebhookRow
  readonly delivery: DeliveryRow
}

/** Creates the store of attempts. The caller runs the only job of the webhook. */
export function createDeliveryAttempts({ db, now }: { db: Db; now: () => Date }) {
  /** Fails the pending deliveries of a webhook whose owner is suspended, so that nothing is sent late after the suspension. */
  const failOfSuspendedOwner = (webhookId: string, at: Date) =>
    db
      .updateTable('webhook_deliveries')
      .set({
        status: 'FAILED',
        settled_at: at,
        next_attempt_at: null,
        error: sql<string>`coalesce(error || '; ', '') || 'The account was suspended'`,
      })
      .where('webhook_id', '=', webhookId)
      .where('status', '=', 'PENDING')
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('webhooks').select('id').where('id', '=', webhookId).where(hasActiveOwner))),
      )
      .execute()

  return {
    /**
     * Starts the next due attempt of a webhook. Returns undefined if none is due, or the webhook is paused or disabled. The
     * pending deliveries of a suspended user fail.
     */
    async begin(webhookId: string): Promise<StartedDelivery | undefined> {
      const at = now()
      const webhook = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', webhookId)
        .where('enabled', '=', true)
        .where(hasActiveOwner)
        .where((or) => or.or([or('paused_until', 'is', null), or('paused_until', '<=', at)]))
        .executeTakeFirst()
      if (!webhook) {
        await failOfSuspendedOwner(webhookId, at)
        return undefined
      }
      const delivery = await db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ attempts: eb('attempts', '+', 1), attempted_at: at }))
        .where('number', '=', (eb) =>
          eb
            .selectFrom('webhook_deliveries')
            .select('number')
            .where('webhook_id', '=', webhookId)
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
    revert: ({ delivery }: StartedDelivery) =>
      db
        .updateTable('webhook_deliveries')
        .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
        .where('number', '=', delivery.number)
        .where('status', '=', 'PENDING')
        .execute(),
  }
}
export type DeliveryAttempts = ReturnType<typeof createDeliveryAttempts>
