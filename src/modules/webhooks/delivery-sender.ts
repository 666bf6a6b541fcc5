import { setTimeout as delay } from 'node:timers/promises'
import type { Attempt } from '../../core/jobs/queue.ts'
import type { Log } from '../../core/log.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { RecordAttempt } from './attempt-recorder.ts'
import type { DeliveryAttempts, StartedDelivery } from './delivery-attempts.ts'
import type { DeliveryJob } from './delivery-queue.ts'
import type { DeliveryOutcome, Requester } from './delivery-request.ts'
import { SECRET_PURPOSE } from './webhook.service.ts'
import { deliveredEvent, type WebhookRow } from './webhook.view.ts'
import { signatures } from './webhook-signature.ts'

/** Limits of a webhook's turn. After it, other due webhooks run first. */
const TURN_DELIVERIES = 20
const TURN_MS = 10_000
const RECORD_RETRY_MS = 250

/**
 * Creates the handler that sends the due deliveries of a webhook, one attempt after another. No transaction is open during
 * an attempt. Recording an outcome is retried until it succeeds, because an unrecorded delivery is sent again.
 */
export function createWebhookSender(deps: {
  attempts: DeliveryAttempts
  endTurn: (attempt: Attempt<DeliveryJob>) => Promise<void>
  requester: Requester
  record: RecordAttempt
  secrets: Secrets
  log: Log
  now: () => Date
  observe: (outcome: DeliveryOutcome['outcome']) => void
}) {
  const { attempts, endTurn, requester, record, secrets, log, now, observe } = deps

  /** Returns the current signing secrets, newest first. */
  function secretsOf(webhook: WebhookRow): string[] | undefined {
    const { id, secret, old_secret, old_secret_until } = webhook
    const newest = secrets.open(SECRET_PURPOSE, secret, id)
    if (newest === undefined) return undefined
    const inOverlap = old_secret !== null && old_secret_until !== null && old_secret_until > now()
    const older = inOverlap ? secrets.open(SECRET_PURPOSE, old_secret, id) : undefined
    return older === undefined ? [newest] : [newest, older]
  }

  async function send({ webhook, delivery }: StartedDelivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const keys = secretsOf(webhook)
    if (!keys) {
      return { outcome: 'refused', durationMs: 0, error: 'The secret cannot be decrypted. Rotate it.' }
    }
    const body = JSON.stringify(deliveredEvent(delivery))
    const timestamp = Math.floor(now().getTime() / 1_000)
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Wheelhouse-Webhooks/1',
      'webhook-id': delivery.event_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures(keys, { id: delivery.event_id, timestamp, body }),
    }
    return await requester.post(webhook.url, { headers, body }, signal)
  }

  async function recordWithRetry(
    started: StartedDelivery,
    done: DeliveryOutcome,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      try {
        return await record(started, done)
      } catch (cause) {
        const logFields = { err: cause, deliveryId: started.delivery.id, outcome: done.outcome }
        if (signal.aborted) {
          return log.warn(logFields, 'the outcome of a delivery was not recorded, it will be sent again')
        }
        log.warn(logFields, 'recording the outcome of a delivery failed, will retry')
        await delay(RECORD_RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Sends due deliveries until none is left, one fails, or the turn is over. */
  async function serve({ data: { webhookId }, signal }: Attempt<DeliveryJob>): Promise<void> {
    const untilMs = performance.now() + TURN_MS
    for (let count = 0; count < TURN_DELIVERIES && performance.now() < untilMs && !signal.aborted; count++) {
      const started = await attempts.begin(webhookId)
      if (!started) return
      const done = await send(started, signal)
      if (done.outcome === 'stopped') return void (await attempts.revert(started))
      observe(done.outcome)
      await recordWithRetry(started, done, signal)
      if (done.outcome !== 'delivered') return
    }
  }

  return async (attempt: Attempt<DeliveryJob>): Promise<void> => {
    await serve(attempt)
    await endTurn(attempt)
  }
}
