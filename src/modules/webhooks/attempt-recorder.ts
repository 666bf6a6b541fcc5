import { TEST_EVENT_TYPE } from '@wheelhouse/protocol'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { StartedDelivery } from './delivery-attempts.ts'
import type { DeliveryOutcome } from './delivery-request.ts'
import { FAILING_LIMIT_MS, pauseMs, retryDelayMs } from './delivery-schedule.ts'
import { disable } from './webhook.service.ts'
import type { WebhookRow } from './webhook.view.ts'

const HTTP_GONE = 410

const addMs = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

/** Creates the recorder of attempts. It updates the delivery and its webhook. */
export function createAttemptRecorder(deps: { transact: Transact; now: () => Date; random?: () => number }) {
  const { transact, now, random = Math.random } = deps

  const columns = (attempt: DeliveryOutcome) => ({
    duration_ms: attempt.durationMs,
    response_status: attempt.status ?? null,
    response_excerpt: attempt.excerpt ?? null,
    error: attempt.error ?? null,
  })

  /** Records a success, even if the claim was lost or the delivery was settled in between. */
  const recordSuccess = ({ webhook, delivery }: StartedDelivery, attempt: DeliveryOutcome) =>
    transact(async ({ db }) => {
      const at = now()
      await db
        .updateTable('webhooks')
        .set({ last_success_at: at, failing_since: null, failures: 0, paused_until: null })
        .where('id', '=', webhook.id)
        .execute()
      await db
        .updateTable('webhook_deliveries')
        .set({ status: 'DELIVERED', settled_at: at, next_attempt_at: null, ...columns(attempt) })
        .where('number', '=', delivery.number)
        .execute()
    })

  /** Returns when to retry, or undefined after the last attempt. A test event is not retried. */
  function nextAttempt({ delivery }: StartedDelivery, attempt: DeliveryOutcome, at: Date): Date | undefined {
    if (delivery.type === TEST_EVENT_TYPE) return undefined
    const delayMs = retryDelayMs(delivery.attempts, attempt.retryAfterMs, random)
    return delayMs === undefined ? undefined : addMs(at, delayMs)
  }

  const recordFailure = (job: StartedDelivery, attempt: DeliveryOutcome) =>
    transact(async (tx) => {
      const at = now()
      const webhook = await tx.db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', job.webhook.id)
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (!webhook) return
      const next = nextAttempt(job, attempt, at)
      await tx.db
        .updateTable('webhook_deliveries')
        .set({
          ...columns(attempt),
          ...(next ? { next_attempt_at: next } : { status: 'FAILED', settled_at: at, next_attempt_at: null }),
        })
        .where('number', '=', job.delivery.number)
        .where('status', '=', 'PENDING')
        .execute()
      if (webhook.url !== job.webhook.url) return // the attempt went to a previous URL
      const failingSince = webhook.failing_since ?? at
      const failures = webhook.failures + 1
      await tx.db
        .updateTable('webhooks')
        .set({
          failures,
          failing_since: failingSince,
          paused_until: addMs(at, pauseMs(failures, attempt.retryAfterMs)),
        })
        .where('id', '=', webhook.id)
        .execute()
      if (attempt.status === HTTP_GONE) await disableWithNotice(tx, webhook, 'gone', at)
      else if (at.getTime() - failingSince.getTime() >= FAILING_LIMIT_MS) {
        await disableWithNotice(tx, webhook, 'failing', at)
      }
    })

  return (job: StartedDelivery, attempt: DeliveryOutcome): Promise<void> =>
    attempt.outcome === 'delivered' ? recordSuccess(job, attempt) : recordFailure(job, attempt)
}
export type RecordAttempt = ReturnType<typeof createAttemptRecorder>

async function disableWithNotice(tx: Tx, webhook: WebhookRow, reason: 'gone' | 'failing', at: Date) {
  if (!webhook.enabled) return
  await disable(tx, webhook, reason, at)
  const data = { webhook_id: webhook.id, host: new URL(webhook.url).host, reason }
  await tx.notify(at, [
    { organizationId: webhook.user_id, action: 'webhooks.manage', type: 'webhook.disabled', data },
  ])
}
