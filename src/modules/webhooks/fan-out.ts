import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import { addDeliveries, type StoredRange } from './fan-out-deliveries.ts'
import {
  eventsOf,
  type NewUserEvent,
  type Parties,
  type StoredDomainEvent,
  sessionOf,
} from './user-event-mapping.ts'

/** Key of the advisory lock that lets one worker at a time run the fan-out. The number is arbitrary. */
const FAN_OUT_LOCK = 7_466_303
/** Most events that are fanned out at a time. */
const BATCH_LIMIT = 200
/** Maximum size of a batch as stored in the database. The event that exceeds it is the last one of the batch. */
const MAX_BATCH_BYTES = 256 * 1024
/** Maximum number of events in a statement. A domain event about ten thousand robots needs several. */
const CHUNK = 1_000

/**
 * Creates the fan-out of the domain events that the outbox relay stores. It appends them to the streams of the users
 * who may see them and enqueues them for webhooks. It deletes a domain event in the transaction that stores the results,
 * so a crash neither loses nor duplicates events. One worker at a time runs the fan-out, in order.
 */
export function createFanOut(deps: { db: Db; transact: Transact; bus: Bus; log: Log; now: () => Date }) {
  const { db, transact, bus, log, now } = deps

  /** Returns whether events are pending. It runs four times a second, so it uses no transaction. */
  const hasPending = async () =>
    (await db.selectFrom('outbound_events').select('id').limit(1).executeTakeFirst()) !== undefined

  /** Converts a domain event. Skips one that is not valid, so that it does not block the others. */
  function toUserEvents(domainEvent: StoredDomainEvent, parties: Parties): NewUserEvent[] {
    try {
      return eventsOf(domainEvent, parties)
    } catch (cause) {
      log.warn({ err: cause, domainEvent: domainEvent.name }, 'skipped a domain event that is not valid')
      return []
    }
  }

  /** Processes the next batch. Returns `more: true` if more events can be pending. */
  const fanOutBatch = () =>
    transact(async (tx) => {
      if (!(await acquireLock(tx))) return { more: false, stored: 0 }
      const domainEvents = await dequeueOutboundEvents(tx)
      if (domainEvents.length === 0) return { more: false, stored: 0 }
      const parties = await partiesOf(tx, domainEvents)
      const events = domainEvents.flatMap((domainEvent) => toUserEvents(domainEvent, parties))
      for (let start = 0; start < events.length; start += CHUNK) {
        const stored = await store(tx, events.slice(start, start + CHUNK), now())
        await addDeliveries(tx, stored, now())
      }
      return { more: true, stored: events.length }
    })

  return {
    /** Processes pending events for about a second at most, so that the process can stop quickly. */
    async run(): Promise<void> {
      const untilMs = performance.now() + 1_000
      for (let more = await hasPending(); more && performance.now() < untilMs; ) {
        const result = await fanOutBatch()
        more = result.more
        if (result.stored > 0) bus.publish('events.stored', {})
      }
    },
  }
}

async function acquireLock({ db }: Tx): Promise<boolean> {
  const { rows } = await sql<{ acquired: boolean }>`
    select pg_try_advisory_xact_lock(${FAN_OUT_LOCK}) as acquired`.execute(db)
  return rows[0]?.acquired === true
}

/** Deletes and returns the next batch in order. The first event can exceed the size limit. */
async function dequeueOutboundEvents({ db }: Tx): Promise<StoredDomainEvent[]> {
  const { rows } = await sql<StoredDomainEvent & { id: number }>`
    delete from outbound_events where id in (
      select id from (
        select id, sum(pg_column_size(payload)) over (order by id) - pg_column_size(payload) as before
        from outbound_events order by id limit ${BATCH_LIMIT}
      ) as batch where before < ${MAX_BATCH_BYTES})
    returning id, name, payload, created_at`.execute(db)
  return rows.toSorted((a, b) => a.id - b.id)
}

async function partiesOf({ db }: Tx, domainEvents: readonly StoredDomainEvent[]): Promise<Parties> {
  const ids = new Set(domainEvents.flatMap((domainEvent) => sessionOf(domainEvent) ?? []))
  if (ids.size === 0) return new Map()
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'client_id', 'operator_id'])
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, [...new Set([row.client_id, row.operator_id])]]))
}

/**
 * Numbers events and stores them. It locks streams in the order of their users, and drops events of users who do not
 * subscribe.
 */
async function store({ db }: Tx, events: readonly NewUserEvent[], at: Date): Promise<StoredRange[]> {
  const input = JSON.stringify(events.map((event, ordinal) => ({ ordinal, ...event })))
  const { rows } = await sql<StoredRange>`
    with input as (
      select i.* from jsonb_to_recordset(${input}::jsonb)
        as i (ordinal int, user_id uuid, type text, created_at timestamptz, data jsonb)
      where exists (select from event_streams s where s.user_id = i.user_id and s.subscribed)
    ), sizes as (
      select user_id, count(*) as size from input group by user_id
    ), counted as (
      insert into event_streams (user_id, head) select user_id, size from sizes order by user_id
      on conflict (user_id) do update set head = event_streams.head + excluded.head where event_streams.subscribed
      returning user_id, head
    ), ranges as (
      select user_id, head - size as before from counted join sizes using (user_id)
    ), stored as (
      insert into user_events (user_id, seq, id, type, data, created_at, stored_at)
      select user_id, before + row_number() over (partition by user_id order by ordinal), gen_random_uuid(),
        type, data, created_at, ${at}::timestamptz
      from input join ranges using (user_id)
    )
    select user_id, before from ranges`.execute(db)
  return rows
}
