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

/** Any number; the same in every worker, so that one at a time deals out. */
const FAN_OUT_LOCK = 7_466_303
const BATCH_LIMIT = 200
/** As the database stores them; a batch ends with the fact that goes beyond it. */
const BATCH_BYTES = 256 * 1024
/** Events that one statement writes: what a fact of ten thousand robots becomes takes several. */
const CHUNK = 1_000

/**
 * Deals out the facts that the relay hands on: numbers them in the streams of the users who may see them, and puts
 * them on their way to webhooks. Facts leave the queue in the transaction that stores what became of them, so a crash
 * anywhere loses none and doubles none; one worker at a time does so, in order.
 */
export function createFanOut(deps: { db: Db; transact: Transact; bus: Bus; log: Log; now: () => Date }) {
  const { db, transact, bus, log, now } = deps

  /** Asked four times a second, so without a transaction. */
  const hasPending = async () =>
    (await db.selectFrom('outbound_events').select('id').limit(1).executeTakeFirst()) !== undefined

  /** One fact that is not as it should be must not keep all others back. */
  function toUserEvents(domainEvent: StoredDomainEvent, parties: Parties): NewUserEvent[] {
    try {
      return eventsOf(domainEvent, parties)
    } catch (cause) {
      log.warn({ err: cause, domainEvent: domainEvent.name }, 'fact not handed on')
      return []
    }
  }

  /** The next facts; true when there may be more. */
  const fanOutBatch = () =>
    transact(async (tx) => {
      if (!(await acquireLock(tx))) return { more: false, stored: 0 }
      const domainEvents = await takeOutboundEvents(tx)
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
    /** Deals out until nothing is left, or for about a second, so that whoever ends the process need not wait long. */
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

/** In order, as many as are no more than a batch; the first one however large it is. */
async function takeOutboundEvents({ db }: Tx): Promise<StoredDomainEvent[]> {
  const { rows } = await sql<StoredDomainEvent & { id: number }>`
    delete from outbound_events where id in (
      select id from (
        select id, sum(pg_column_size(payload)) over (order by id) - pg_column_size(payload) as before
        from outbound_events order by id limit ${BATCH_LIMIT}
      ) as batch where before < ${BATCH_BYTES})
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
 * Gives events their numbers and stores them. Streams are locked in the order of their users. What is for nobody who
 * exists is dropped.
 */
async function store({ db }: Tx, events: readonly NewUserEvent[], at: Date): Promise<StoredRange[]> {
  const input = JSON.stringify(events.map((event, ordinal) => ({ ordinal, ...event })))
  const { rows } = await sql<StoredRange>`
    with input as (
      select i.* from jsonb_to_recordset(${input}::jsonb)
        as i (ordinal int, user_id uuid, type text, created_at timestamptz, data jsonb)
      where exists (select from users where users.id = i.user_id)
    ), sizes as (
      select user_id, count(*) as size from input group by user_id
    ), counted as (
      insert into event_streams (user_id, head) select user_id, size from sizes order by user_id
      on conflict (user_id) do update set head = event_streams.head + excluded.head
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
