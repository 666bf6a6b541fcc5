import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Reads renew a subscription when the last renewal is older than this. */
export const RENEWAL_MS = HOUR_MS
/** A subscription without a read and without an enabled webhook ends after this time, longer than events are stored. */
const LAPSE_MS = 15 * DAY_MS
/** Maximum number of subscriptions that one run ends: each may delete a hundred thousand events. */
const LAPSE_LIMIT = 20

/** Casts a text to a uuid, another text to null. A domain event is not validated when it is stored. */
const uuidSql = (text: string) =>
  `case when (${text}) ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then (${text})::uuid end`
const ofSession = (column: string) =>
  `select ${column} from sessions where id = ${uuidSql("published.payload ->> 'session_id'")}`

/**
 * The SQL condition that a user who may see a domain event subscribes to events. The row of the event is `published`. It
 * names the same users as `user-event-mapping.ts`. The first part is constant, so that a platform without subscriptions
 * evaluates nothing for an event.
 */
export const hasSubscriberSql = `
  exists (select from event_streams where subscribed)
  and exists (
    select from event_streams where subscribed and user_id = any(array(
      ${ofSession('client_id')}
      union all ${ofSession('operator_id')}
      union all select ${uuidSql("published.payload ->> 'user_id'")}
      union all select ${uuidSql("owner.id #>> '{}'")}
        from jsonb_path_query(published.payload, 'lax $.robots[*].owner_id') as owner (id))))`

/**
 * Stores a user's events from now on. Events without a subscriber are not stored at all. Call it before reading a stream,
 * and in the transaction that creates or enables a webhook, before other locks.
 */
export async function subscribe(db: Db, userId: string, at: Date): Promise<void> {
  await db
    .insertInto('event_streams')
    .values({ user_id: userId, head: 0, subscribed: true, renewed_at: at })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ subscribed: true, renewed_at: at }))
    .execute()
}

/**
 * Ends the subscriptions of users who have not read their stream for 15 days and have no enabled webhook, and deletes
 * their events. A later subscription continues after a number that no event has, so that an old cursor gets status 410
 * instead of a silent gap.
 */
export async function endUnusedSubscriptions(db: Db, now: Date): Promise<void> {
  await sql`
    with unused as (
      select user_id from event_streams
      where subscribed and renewed_at < ${new Date(now.getTime() - LAPSE_MS)}::timestamptz
        and not exists (select from webhooks where webhooks.user_id = event_streams.user_id and enabled)
      order by user_id limit ${LAPSE_LIMIT}
      for no key update skip locked
    ), ended as (
      update event_streams set subscribed = false, head = head + 1, pruned_to = head + 1
      from unused where event_streams.user_id = unused.user_id
      returning event_streams.user_id
    )
    delete from user_events using ended where user_events.user_id = ended.user_id`.execute(db)
}

/** Subscribes the owners of enabled webhooks that a process of an earlier version has created. */
export async function subscribeOwnersOfWebhooks(db: Db, now: Date): Promise<void> {
  await sql`
    insert into event_streams (user_id, head, subscribed, renewed_at)
    select distinct user_id, 0, true, ${now}::timestamptz from webhooks
    where enabled and not exists (
      select from event_streams where event_streams.user_id = webhooks.user_id and subscribed)
    order by user_id
    on conflict (user_id) do update set subscribed = true, renewed_at = excluded.renewed_at`.execute(db)
}
