import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../log.ts'
import type { Bus } from './bus.ts'
import { type EventName, type EventPayload, externallyPublished } from './catalog.ts'
import { createLeadership, type Leadership } from './leadership.ts'

/** Most events of a batch. */
const BATCH_LIMIT = 500
/** Size as the database stores the events. A batch ends with the event that exceeds it. */
const MAX_BATCH_BYTES = 1024 * 1024
/** Finds events whose wake-up hint was lost. */
const POLL_MS = 250
/** How often another hub tries to become the leader. */
const CANDIDACY_MS = 250
/** Time for PostgreSQL to end a connection and free its lock. */
const TAKEOVER_MS = 25
const QUERY_LIMIT_MS = 10_000
/** How often the relay checks whether Redis keeps up. */
const BACKPRESSURE_POLL_MS = 5

/**
 * Selects one batch in order of the ids. The first event belongs to it whatever its size. `candidates` is the number of
 * events before the limit on the size.
 */
const SELECT_BATCH_SQL = `
  select id, name, payload, candidates from (
    select id, name, payload, sum(pg_column_size(payload)) over (order by id) - pg_column_size(payload) as before,
      count(*) over ()::int as candidates
    from (select id, name, payload from outbox order by id limit ${BATCH_LIMIT}) as first
  ) b where before < ${MAX_BATCH_BYTES} order by id`

/**
 * Removes published events. The same statement copies those with a subscriber to `outbound_events`, for event streams and
 * webhooks. Only the leader writes there, one statement after another, so its ids grow in commit order.
 */
const completeBatchSql = (hasSubscriber: string) => `
  with published as (delete from outbox where id = any($1::bigint[]) returning id, name, payload, created_at)
  insert into outbound_events (name, payload, created_at)
  select name, payload, created_at from published where name = any($2::text[]) and ${hasSubscriber} order by id`

export type DomainEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]

export interface OutboxRelayOptions {
  readonly databaseUrl: string
  readonly bus: Bus
  readonly log: Log
  readonly publish: (event: DomainEvent) => void
  /** SQL condition that someone subscribes to the event in the row `published`. Default: always. */
  readonly hasSubscriberSql?: string
  /** Whether the connection to the other hubs has a backlog, so that the relay should wait. Default: never. */
  readonly hasBacklog?: () => boolean
  /** Called when this process lost the leadership within a batch: its last events may have followed newer ones. */
  readonly onLeadershipLost?: () => void
}

export interface OutboxRelay {
  /** Events published and batches read since the start of this process. */
  readonly published: number
  readonly batches: number
  /** Stops after the current batch. */
  close(): Promise<void>
}

/**
 * Publishes events from the outbox to the hub, in order and at least once: an event is removed after it was published.
 * One process at a time does so, see `leadership.ts`. A process that was frozen publishes nothing of what it read before.
 */
export function startOutboxRelay(deps: OutboxRelayOptions): OutboxRelay {
  const { databaseUrl, bus, log, publish, hasBacklog = () => false, onLeadershipLost = () => {} } = deps
  const completeBatch = completeBatchSql(`(${deps.hasSubscriberSql ?? 'true'})`)
  let closing = false
  let [published, batches] = [0, 0]
  /** Whether events of the current batch are published and not yet removed. */
  let batchInFlight = false
  const waiter = createWaiter(bus, () => closing)

  /** Publishes one event. An event that cannot be published must not block the others. */
  function publishEvent(event: DomainEvent): void {
    try {
      publish(event)
      published++
    } catch (cause) {
      log.error({ err: cause, event: event.name }, 'event not published')
    }
  }

  /** Publishes batches until one contains all events that were committed before it was read. */
  async function drain(leadership: Leadership): Promise<void> {
    while (!closing) {
      const { rows } = await leadership.query<{ id: string; candidates: number } & DomainEvent>({
        name: 'relay-batch',
        text: SELECT_BATCH_SQL,
      })
      const [first] = rows
      if (!first) return
      batches++
      for (const { name, payload } of rows) {
        while (hasBacklog()) {
          await delay(BACKPRESSURE_POLL_MS)
          await leadership.heartbeat()
        }
        if (!leadership.isLeadershipCertain) await leadership.verify()
        batchInFlight = true
        publishEvent({ name, payload } as DomainEvent)
      }
      await leadership.query({
        name: 'relay-done',
        text: completeBatch,
        values: [rows.map((row) => row.id), externallyPublished],
      })
      batchInFlight = false
      // Events that were committed since then wake the relay.
      const wasLast = first.candidates < BATCH_LIMIT && first.candidates === rows.length
      if (wasLast) return
    }
  }

  /** Relays until the process closes; rejects when the leadership is lost. */
  async function relayWhileLeading(leadership: Leadership): Promise<void> {
    log.debug('relaying the outbox')
    while (!closing) {
      waiter.arm()
      await drain(leadership)
      await waiter.wait(POLL_MS, { untilWoken: true })
    }
  }

  /** Settles when this process is the leader, or closes. */
  async function campaign(leadership: Leadership): Promise<void> {
    while (!closing && !(await leadership.acquire())) {
      const ended = await leadership.evictStaleLeader()
      if (ended) log.warn('the leading outbox relay is unresponsive, taking over')
      await waiter.wait(ended ? TAKEOVER_MS : CANDIDACY_MS)
    }
  }

  async function run(): Promise<void> {
    let failing = false
    while (!closing) {
      const client = connection(databaseUrl)
      try {
        await client.connect()
        failing = false
        const leadership = createLeadership(client)
        await campaign(leadership)
        await relayWhileLeading(leadership)
      } catch (cause) {
        if (!failing) log.warn({ err: cause }, 'outbox relay cannot reach the database, retrying')
        failing = true
        if (batchInFlight) onLeadershipLost()
        batchInFlight = false
        await waiter.wait(CANDIDACY_MS)
      } finally {
        await client.end().catch(() => {})
      }
    }
  }

  const ended = run()
  return {
    get published() {
      return published
    },
    get batches() {
      return batches
    },
    close: async () => {
      closing = true
      waiter.close()
      await ended
    },
  }
}

/** Creates the relay's own connection, because the lock belongs to the connection. */
function connection(databaseUrl: string): Client {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'wheelhouse-relay',
    connectionTimeoutMillis: 5_000,
    query_timeout: QUERY_LIMIT_MS,
    statement_timeout: QUERY_LIMIT_MS, // an abandoned query must not keep the lock
    keepAlive: true,
  })
  client.on('error', () => {}) // the running query reports it
  return client
}

/** Creates pauses that a wake-up hint ends early. */
function createWaiter(bus: Bus, isClosing: () => boolean) {
  let wake: () => void = () => {}
  let woken = false
  const unsubscribe = bus.subscribe('outbox.wake', () => {
    woken = true
    wake()
  })
  return {
    /** Lets hints that arrive from now on end the next pause. */
    arm(): void {
      woken = false
    },
    /** Settles after the given time; with `untilWoken`, as soon as a hint arrives. */
    async wait(ms: number, { untilWoken = false } = {}): Promise<void> {
      if (isClosing() || (untilWoken && woken)) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        wake = () => {
          if (!untilWoken && !isClosing()) return
          clearTimeout(timer)
          resolve()
        }
      })
    },
    close(): void {
      unsubscribe()
      wake()
    },
  }
}
