import { setTimeout as delay } from 'node:timers/promises'
import { alone } from '../../core/concurrency/async.ts'
import type { Log } from '../../core/log.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { DeliveryClaims, Held, Work } from './delivery-claims.ts'
import type { RecordAttempt } from './delivery-records.ts'
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
const RECORD_AGAIN_MS = 250
/** What attempts in hand get when the process ends. */
const STOP_GRACE_MS = 2_000

/**
 * Delivers what is due. Each webhook that is served takes a lane, in which one attempt follows the other; the lanes go
 * round among all that are due. No transaction is open during an attempt, and its outcome is recorded until it is
 * recorded: what is sent but not recorded arrives twice.
 */
export function createWebhookSender(parts: {
  claims: DeliveryClaims
  requester: Requester
  record: RecordAttempt
  secrets: Secrets
  log: Log
  now: () => Date
  observe: (outcome: Attempt['outcome']) => void
}) {
  const { claims, requester, record, secrets, log, now, observe } = parts
  const stopping = new AbortController()
  /** Ends attempts. */
  const aborting = new AbortController()
  const lanes = new Map<Held, Promise<void>>()

  /** The secrets that sign now, the newest first. */
  function secretsOf(webhook: WebhookRow): string[] | undefined {
    const { id, secret, old_secret, old_secret_until } = webhook
    const newest = secrets.open(SECRET_PURPOSE, secret, id)
    if (newest === undefined) return undefined
    const inOverlap = old_secret !== null && old_secret_until !== null && old_secret_until > now()
    const older = inOverlap ? secrets.open(SECRET_PURPOSE, old_secret, id) : undefined
    return older === undefined ? [newest] : [newest, older]
  }

  async function attempt({ webhook, delivery }: Work): Promise<Attempt> {
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

  async function recordForSure(work: Work, done: Attempt): Promise<void> {
    for (;;) {
      try {
        return await record(work, done)
      } catch (cause) {
        const about = { err: cause, deliveryId: work.delivery.id, outcome: done.outcome }
        if (stopping.signal.aborted) {
          return log.warn(about, 'the outcome of a delivery was not recorded: it is sent again')
        }
        log.warn(about, 'the outcome of a delivery cannot be recorded yet')
        await delay(RECORD_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  async function serve(held: Held): Promise<void> {
    const untilMs = performance.now() + SLICE_MS
    for (let n = 0; n < SLICE_DELIVERIES && performance.now() < untilMs && !stopping.signal.aborted; n++) {
      const work = await claims.next(held)
      if (!work) return
      const done = await attempt(work)
      if (done.outcome === 'stopped') return void (await claims.takeBack(work))
      observe(done.outcome)
      await recordForSure(work, done)
      if (done.outcome !== 'delivered') return
    }
  }

  /** When giving back fails, the claim ends by itself. */
  async function lane(held: Held): Promise<void> {
    try {
      await serve(held).finally(() => claims.release(held))
    } catch (cause) {
      log.warn({ err: cause, webhookId: held.id }, 'a webhook is not served for the moment')
    }
    lanes.delete(held)
    if (!stopping.signal.aborted) await topUp().catch(() => {}) // the job tells of it a moment later
  }

  /** Fills the lanes that are free with webhooks that are due. Does not wait for them. */
  const topUp = alone(async () => {
    while (!stopping.signal.aborted && lanes.size < LANES) {
      const failing = [...lanes.keys()].filter(({ failures }) => failures > 0).length
      const held = await claims.take(failing >= FAILING_LANES)
      if (!held) return
      lanes.set(held, lane(held))
    }
  })

  return {
    run: topUp,

    /** Ends what is being sent, in a few seconds, and takes nothing more. */
    async close(): Promise<void> {
      stopping.abort()
      const timer = setTimeout(() => aborting.abort(), STOP_GRACE_MS)
      await topUp().catch(() => {})
      while (lanes.size > 0) await Promise.allSettled(lanes.values())
      clearTimeout(timer)
    },
  }
}
export type WebhookSender = ReturnType<typeof createWebhookSender>
