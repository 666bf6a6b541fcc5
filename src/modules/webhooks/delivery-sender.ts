import { setTimeout as delay } from 'node:timers/promises'
import { singleFlight } from '../../core/concurrency/concurrency.ts'
import type { Log } from '../../core/log.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { RecordAttempt } from './attempt-recorder.ts'
import type { ClaimedWebhook, DeliveryClaims, DeliveryJob } from './delivery-claims.ts'
import type { Attempt, Requester } from './delivery-request.ts'
import { SECRET_PURPOSE } from './webhook.service.ts'
import { deliveredEvent, type WebhookRow } from './webhook.view.ts'
import { signatures } from './webhook-signature.ts'

/** Maximum number of webhooks that a process serves concurrently. */
const LANES = 24
/** Maximum number of lanes for webhooks whose last attempt failed, so that slow receivers do not delay the others. */
const FAILING_LANES = LANES / 3
/** Limits of a webhook's turn in a lane. */
const SLICE_DELIVERIES = 20
const SLICE_MS = 10_000
const RECORD_RETRY_MS = 250
/** Time that running attempts have to finish when the process stops. */
const STOP_GRACE_MS = 2_000

/**
 * Creates the sender of due deliveries. A webhook occupies a lane for its turn, with one attempt after another; then the
 * lane serves the next due webhook. No transaction is open during an attempt. Recording an outcome is retried until it
 * succeeds, because an unrecorded delivery is sent again.
 */
export function createWebhookSender(deps: {
  claims: DeliveryClaims
  requester: Requester
  record: RecordAttempt
  secrets: Secrets
  log: Log
  now: () => Date
  observe: (outcome: Attempt['outcome']) => void
}) {
  const { claims, requester, record, secrets, log, now, observe } = deps
  const stopping = new AbortController()
  /** Aborts running attempts. */
  const aborting = new AbortController()
  const lanes = new Map<ClaimedWebhook, Promise<void>>()

  /** Returns the current signing secrets, newest first. */
  function secretsOf(webhook: WebhookRow): string[] | undefined {
    const { id, secret, old_secret, old_secret_until } = webhook
    const newest = secrets.open(SECRET_PURPOSE, secret, id)
    if (newest === undefined) return undefined
    const inOverlap = old_secret !== null && old_secret_until !== null && old_secret_until > now()
    const older = inOverlap ? secrets.open(SECRET_PURPOSE, old_secret, id) : undefined
    return older === undefined ? [newest] : [newest, older]
  }

  async function attempt({ webhook, delivery }: DeliveryJob): Promise<Attempt> {
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
    return await requester.post(webhook.url, { headers, body }, aborting.signal)
  }

  async function recordWithRetry(job: DeliveryJob, done: Attempt): Promise<void> {
    for (;;) {
      try {
        return await record(job, done)
      } catch (cause) {
        const logFields = { err: cause, deliveryId: job.delivery.id, outcome: done.outcome }
        if (stopping.signal.aborted) {
          return log.warn(logFields, 'the outcome of a delivery was not recorded, it will be sent again')
        }
        log.warn(logFields, 'recording the outcome of a delivery failed, will retry')
        await delay(RECORD_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  async function serve(claimed: ClaimedWebhook): Promise<void> {
    const untilMs = performance.now() + SLICE_MS
    for (
      let count = 0;
      count < SLICE_DELIVERIES && performance.now() < untilMs && !stopping.signal.aborted;
      count++
    ) {
      const job = await claims.next(claimed)
      if (!job) return
      const done = await attempt(job)
      if (done.outcome === 'stopped') return void (await claims.revertAttempt(job))
      observe(done.outcome)
      await recordWithRetry(job, done)
      if (done.outcome !== 'delivered') return
    }
  }

  /** Serves a webhook and releases it. If the release fails, the claim expires. */
  async function runLane(claimed: ClaimedWebhook): Promise<void> {
    try {
      await serve(claimed).finally(() => claims.release(claimed))
    } catch (cause) {
      log.warn({ err: cause, webhookId: claimed.id }, 'serving a webhook failed, will retry')
    }
    lanes.delete(claimed)
    if (!stopping.signal.aborted) await fillLanes().catch(() => {}) // the next run of the job reports a persistent error
  }

  /** Fills free lanes with due webhooks. Does not wait for their deliveries. */
  const fillLanes = singleFlight(async () => {
    while (!stopping.signal.aborted && lanes.size < LANES) {
      const failing = [...lanes.keys()].filter(({ failures }) => failures > 0).length
      const claimed = await claims.claimNext(failing >= FAILING_LANES)
      if (!claimed) return
      lanes.set(claimed, runLane(claimed))
    }
  })

  return {
    run: fillLanes,

    /** Stops claiming and waits for running attempts. Aborts them after a few seconds. */
    async close(): Promise<void> {
      stopping.abort()
      const timer = setTimeout(() => aborting.abort(), STOP_GRACE_MS)
      await fillLanes().catch(() => {})
      while (lanes.size > 0) await Promise.allSettled(lanes.values())
      clearTimeout(timer)
    },
  }
}
