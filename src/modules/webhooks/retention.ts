import { sql } from 'kysely'
import { inBatches } from '../../core/database/in-batches.ts'
import type { Db } from '../../core/database/tables.ts'
import { endUnusedSubscriptions, subscribeOwnersOfWebhooks } from './event-subscription.ts'

const DAY_MS = 24 * 3_600_000
/** Maximum age of events. */
const EVENT_RETENTION_MS = 14 * DAY_MS
/** Maximum number of stored events of one user. */
const MAX_EVENTS_PER_USER = 100_000
/** Maximum age of settled deliveries. */
const DELIVERY_RETENTION_MS = 7 * DAY_MS
/** Maximum number of stored settled deliveries of one webhook. */
const MAX_SETTLED_PER_WEBHOOK = 10_000
/** Maximum number of pending deliveries of a webhook. The oldest ones beyond it fail. */
const MAX_PENDING_PER_WEBHOOK = 50_000
/** Maximum number of rows that a statement removes. */
const BATCH = 5_000

export interface RetentionLimits {
  readonly eventsPerUser?: number
  readonly deliveriesPerWebhook?: number
  readonly waitingPerWebhook?: number
}

/** Creates the retention of events and deliveries. Every step is small, conditional and idempotent. */
export function createOutboundRetention(deps: { db: Db; now: () => Date; limits?: RetentionLimits }) {
  const { db, now } = deps
  const { eventsPerUser = MAX_EVENTS_PER_USER, deliveriesPerWebhook = MAX_SETTLED_PER_WEBHOOK } =
    deps.limits ?? {}
  const { waitingPerWebhook = MAX_PENDING_PER_WEBHOOK } = deps.limits ?? {}
  const before = (ms: number) => new Date(now().getTime() - ms)

  /**
   * Deletes the start of a stream and records it, so that a request with an older cursor gets status 410. Returns the number of
   * deleted events.
   */
  async function prune(userId: string, upTo: number): Promise<number> {
    const { numAffectedRows } = await sql`
      with pruned as (
        update event_streams set pruned_to = greatest(pruned_to, ${upTo}::bigint)
        where user_id = ${userId} returning user_id
      )
      delete from user_events using pruned
      where user_events.user_id = pruned.user_id and seq <= ${upTo}`.execute(db)
    return Number(numAffectedRows ?? 0)
  }

  async function pruneAll(streams: readonly { user_id: string; up_to: number }[]): Promise<number> {
    let deleted = 0
    for (const { user_id, up_to } of streams) deleted += await prune(user_id, up_to)
    return deleted
  }

  /** Deletes the oldest events of all streams. Returns how many it deleted. */
  async function pruneOldest(): Promise<number> {
    const old = await sql<{ user_id: string; up_to: number }>`
      select user_id, max(seq) as up_to from (
        select user_id, seq from user_events where stored_at < ${before(EVENT_RETENTION_MS)}::timestamptz
        order by stored_at limit ${BATCH}
      ) as old group by user_id`.execute(db)
    return await pruneAll(old.rows)
  }

  async function pruneSurplus(): Promise<void> {
    const surplus = await sql<{ user_id: string; up_to: number }>`
      select user_id, head - ${eventsPerUser} as up_to from event_streams
      where head - pruned_to > ${eventsPerUser}`.execute(db)
    await pruneAll(surplus.rows)
  }

  async function removeOldDeliveries(): Promise<number> {
    const { rows } = await sql`
      delete from webhook_deliveries where number in (
        select number from webhook_deliveries where settled_at < ${before(DELIVERY_RETENTION_MS)}::timestamptz
        order by settled_at limit ${BATCH})
      returning 1`.execute(db)
    return rows.length
  }

  /** Selects rows beyond the newest `count` of each webhook. Skips locked rows. */
  const rowsBeyond = (count: number, condition: ReturnType<typeof sql>) => sql`
    select number from webhook_deliveries where number in (
      select number from (
        select number, row_number() over (partition by webhook_id order by number desc) as rank
        from webhook_deliveries where ${condition}
      ) as ranked where rank > ${count} limit ${BATCH})
    for update skip locked`

  async function removeSurplusDeliveries(): Promise<number> {
    const { numAffectedRows } = await sql`
      delete from webhook_deliveries
      where number in (${rowsBeyond(deliveriesPerWebhook, sql`settled_at is not null`)})`.execute(db)
    return Number(numAffectedRows ?? 0)
  }

  async function failSurplusDeliveries(): Promise<number> {
    const { numAffectedRows } = await sql`
      update webhook_deliveries
      set status = 'FAILED', settled_at = ${now()}::timestamptz, next_attempt_at = null,
        error = 'Too many deliveries were pending'
      where status = 'PENDING'
        and number in (${rowsBeyond(waitingPerWebhook, sql`status = 'PENDING'`)})`.execute(db)
    return Number(numAffectedRows ?? 0)
  }

  return {
    /** Removes old events and deliveries, surplus events, unused subscriptions and expired secrets. */
    async removeOld(): Promise<void> {
      await subscribeOwnersOfWebhooks(db, now())
      await endUnusedSubscriptions(db, now())
      await inBatches(1, pruneOldest)
      await pruneSurplus()
      await inBatches(BATCH, removeOldDeliveries)
      await sql`
        update webhooks set old_secret = null, old_secret_until = null where id in (
          select id from webhooks where old_secret_until < ${now()}::timestamptz
          order by id for no key update skip locked)`.execute(db)
    },

    /** Removes or fails deliveries beyond the limits. */
    async removeSurplus(): Promise<void> {
      await inBatches(BATCH, removeSurplusDeliveries)
      await inBatches(BATCH, failSurplusDeliveries)
    },
  }
}
