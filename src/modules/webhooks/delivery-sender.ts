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

/** Webhooks that one process delivers to at a time. */
const LANES = 24
/** Of these, for receivers whose last attempt did not arrive: those that hang must not keep the others waiting. */
const FAILING_LANES = LANES / 3
/** What one webhook gets before it is the next one's turn. */
const SLICE_DELIVERIES = 20
const SLICE_MS = 10_000
const RECORD_RETRY_MS = 250
/** What attempts in hand get when the process ends. */
const STOP_GRACE_MS = 2_000

/**
 * Delivers what is due. Each webhook that is served takes a lane, in which one attempt follows the other; the lanes go
 * round among all that are due. No transaction is open during an attempt, and its outcome is recorded until it is
 * recorded: what is sent but not recorded arrives twice.
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
  /** Ends attempts. */
  const aborting = new AbortController()
  const lanes = new Map<ClaimedWebhook, Promise<void>>()

  /** The secrets that sign now, the newest first. */
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
      return { outcome: 'refused', durationMs: 0, error: 'The secret cannot be read any more: rotate it' }
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
          return log.warn(logFields, 'the outcome of a delivery was not recorded: it is sent again')
        }
        log.warn(logFields, 'the outcome of a delivery cannot be recorded yet')
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

  /** When giving back fails, the claim ends by itself. */
  async function lane(claimed: ClaimedWebhook): Promise<void> {
    try {
      await serve(claimed).finally(() => claims.release(claimed))
    } catch (cause) {
      log.warn({ err: cause, webhookId: claimed.id }, 'a webhook is not served for the moment')
    }
    lanes.delete(claimed)
    if (!stopping.signal.aborted) await fillLanes().catch(() => {}) // the job tells of it a moment later
  }

  /** Fills the lanes that are free with webhooks that are due. Does not wait for them. */
  const fillLanes = singleFlight(async () => {
    while (!stopping.signal.aborted && lanes.size < LANES) {
      const failing = [...lanes.keys()].filter(({ failures }) => failures > 0).length
      const claimed = await claims.claimNext(failing >= FAILING_LANES)
      if (!claimed) return
      lanes.set(claimed, lane(claimed))
    }
  })

  return {
    run: fillLanes,

    /** Ends what is being sent, in a few seconds, and takes nothing more. */
    async close(): Promise<void> {
      stopping.abort()
      const timer = setTimeout(() => aborting.abort(), STOP_GRACE_MS)
      await fillLanes().catch(() => {})
      while (lanes.size > 0) await Promise.allSettled(lanes.values())
      clearTimeout(timer)
    },
  }
}
