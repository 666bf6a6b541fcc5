import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../log.ts'
import type { Bus } from './bus.ts'
import { type EventName, type EventPayload, externallyPublished } from './catalog.ts'
import { createLeadership, type Leadership } from './leadership.ts'

const BATCH_LIMIT = 500
/** As the database stores them; a batch ends with the fact that goes beyond it. */
const BATCH_BYTES = 1024 * 1024
/** Finds facts whose wake-up hint was lost. */
const POLL_MS = 250
/** How often another hub looks whether it should take over. */
const CANDIDACY_MS = 250
/** What PostgreSQL gets to end a connection and free its lock. */
const TAKEOVER_MS = 25
const QUERY_LIMIT_MS = 10_000
/** How soon the relay looks again whether Redis keeps up. */
const BACKPRESSURE_POLL_MS = 5

/** In order, as many as are no more than a batch; the first one however large it is. */
const SELECT_BATCH_SQL = `
  select id, name, payload from (
    select id, name, payload, sum(pg_column_size(payload)) over (order by id) - pg_column_size(payload) as before
    from outbox order by id limit ${BATCH_LIMIT}
  ) b where before < ${BATCH_BYTES} order by id`

/**
 * Removes what has been told. What programs of others are to hear of moves on to `outbound_events` in the same
 * statement. Only the leader writes there, one statement after another: so its numbers grow in the order of the commits.
 */
const COMPLETE_BATCH_SQL = `
  with published as (delete from outbox where id = any($1::bigint[]) returning id, name, payload, created_at)
  insert into outbound_events (name, payload, created_at)
  select name, payload, created_at from published where name = any($2::text[]) order by id`

export type DomainEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]

export interface OutboxRelayOptions {
  readonly databaseUrl: string
  readonly bus: Bus
  readonly log: Log
  readonly publish: (event: DomainEvent) => void
  /** Whether so much is on its way to the other hubs that more should wait. Default: never. */
  readonly hasBacklog?: () => boolean
  /** Told when this process lost its place with facts in hand: what it told last may have come after newer facts. */
  readonly onLeadershipLost?: () => void
}

export interface OutboxRelay {
  /** Facts told and batches read since the start of this process. */
  readonly published: number
  readonly batches: number
  /** Stops after the batch in hand. */
  close(): Promise<void>
}

/**
 * Carries facts from the outbox to the hub, in order, each at least once: a fact is removed only after it was
 * published. One process at a time does so, see `leadership.ts`; one that was frozen publishes nothing of what it read
 * before.
 */
export function startOutboxRelay(deps: OutboxRelayOptions): OutboxRelay {
  const { databaseUrl, bus, log, publish, hasBacklog = () => false, onLeadershipLost = () => {} } = deps
  let closing = false
  let [published, batches] = [0, 0]
  /** Facts of the batch in hand have been told and not yet been removed. */
  let batchInFlight = false
  const waiter = createWaiter(bus, () => closing)

  /** One fact that cannot be told must not keep all others back. */
  function publishEvent(event: DomainEvent): void {
    try {
      publish(event)
      published++
    } catch (cause) {
      log.error({ err: cause, event: event.name }, 'fact not published')
    }
  }

  async function drain(leadership: Leadership): Promise<void> {
    while (!closing) {
      const { rows } = await leadership.query<{ id: string } & DomainEvent>({
        name: 'relay-batch',
        text: SELECT_BATCH_SQL,
      })
      if (rows.length === 0) return
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
        text: COMPLETE_BATCH_SQL,
        values: [rows.map((row) => row.id), externallyPublished],
      })
      batchInFlight = false
    }
  }

  /** Settles when this process should no longer lead. */
  async function relayWhileLeading(leadership: Leadership): Promise<void> {
    log.debug('relaying the outbox')
    while (!closing) {
      waiter.arm()
      await drain(leadership)
      await waiter.wait(POLL_MS, { untilWoken: true })
    }
  }

  /** Settles when this process leads, or ends. */
  async function campaign(leadership: Leadership): Promise<void> {
    while (!closing && !(await leadership.acquire())) {
      const ended = await leadership.evictStaleLeader()
      if (ended) log.warn('relaying hub has fallen silent, taking over')
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
        if (!failing) log.warn({ err: cause }, 'outbox waits for the database')
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

/** A connection of the relay's own: the lock is the connection's. */
function connection(databaseUrl: string): Client {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'wheelhouse-relay',
    connectionTimeoutMillis: 5_000,
    query_timeout: QUERY_LIMIT_MS,
    statement_timeout: QUERY_LIMIT_MS, // what nobody waits for any more must not go on holding the lock
    keepAlive: true,
  })
  client.on('error', () => {}) // the query in hand reports it
  return client
}

/** Pauses that end early when there is something to do. */
function createWaiter(bus: Bus, isClosing: () => boolean) {
  let wake: () => void = () => {}
  let woken = false
  const unsubscribe = bus.subscribe('outbox.wake', () => {
    woken = true
    wake()
  })
  return {
    /** What comes from here on ends the next pause. */
    arm(): void {
      woken = false
    },
    /** Settles after the given time; with `untilWoken`, as soon as there are facts to tell. */
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
