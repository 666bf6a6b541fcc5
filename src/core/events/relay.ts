import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Log } from '../log.ts'
import type { Bus } from './bus.ts'
import { type EventName, type EventPayload, handedOn } from './catalog.ts'
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
const BEHIND_MS = 5

/** In order, as many as are no more than a batch; the first one however large it is. */
const BATCH = `
  select id, name, payload from (
    select id, name, payload, sum(pg_column_size(payload)) over (order by id) - pg_column_size(payload) as before
    from outbox order by id limit ${BATCH_LIMIT}
  ) b where before < ${BATCH_BYTES} order by id`

/**
 * Removes what has been told. What programs of others are to hear of moves on to `outbound_facts` in the same
 * statement. Only the leader writes there, one statement after another: so its numbers grow in the order of the commits.
 */
const DONE = `
  with told as (delete from outbox where id = any($1::bigint[]) returning id, name, payload, created_at)
  insert into outbound_facts (name, payload, created_at)
  select name, payload, created_at from told where name = any($2::text[]) order by id`

export type Fact = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]

export interface RelayParts {
  readonly databaseUrl: string
  readonly bus: Bus
  readonly log: Log
  readonly publish: (fact: Fact) => void
  /** Whether so much is on its way to the other hubs that more should wait. Default: never. */
  readonly isBehind?: () => boolean
  /** Told when this process lost its place with facts in hand: what it told last may have come after newer facts. */
  readonly onDeposed?: () => void
}

export interface Relay {
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
export function startRelay(parts: RelayParts): Relay {
  const { databaseUrl, bus, log, publish, isBehind = () => false, onDeposed = () => {} } = parts
  let closing = false
  let [published, batches] = [0, 0]
  /** Facts of the batch in hand have been told and not yet been removed. */
  let inHand = false
  const naps = createNaps(bus, () => closing)

  /** One fact that cannot be told must not keep all others back. */
  function tell(fact: Fact): void {
    try {
      publish(fact)
      published++
    } catch (cause) {
      log.error({ err: cause, fact: fact.name }, 'fact not published')
    }
  }

  async function drain(leadership: Leadership): Promise<void> {
    while (!closing) {
      const { rows } = await leadership.query<{ id: string } & Fact>({ name: 'relay-batch', text: BATCH })
      if (rows.length === 0) return
      batches++
      for (const { name, payload } of rows) {
        while (isBehind()) {
          await delay(BEHIND_MS)
          await leadership.keep()
        }
        if (!leadership.isCertain) await leadership.prove()
        inHand = true
        tell({ name, payload } as Fact)
      }
      await leadership.query({
        name: 'relay-done',
        text: DONE,
        values: [rows.map((row) => row.id), handedOn],
      })
      inHand = false
    }
  }

  /** Settles when this process should no longer lead. */
  async function lead(leadership: Leadership): Promise<void> {
    log.debug('relaying the outbox')
    while (!closing) {
      naps.begin()
      await drain(leadership)
      await naps.rest(POLL_MS, { untilWoken: true })
    }
  }

  /** Settles when this process leads, or ends. */
  async function stand(leadership: Leadership): Promise<void> {
    while (!closing && !(await leadership.claim())) {
      const ended = await leadership.endSilentLeader()
      if (ended) log.warn('relaying hub has fallen silent, taking over')
      await naps.rest(ended ? TAKEOVER_MS : CANDIDACY_MS)
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
        await stand(leadership)
        await lead(leadership)
      } catch (cause) {
        if (!failing) log.warn({ err: cause }, 'outbox waits for the database')
        failing = true
        if (inHand) onDeposed()
        inHand = false
        await naps.rest(CANDIDACY_MS)
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
      naps.close()
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
function createNaps(bus: Bus, isClosing: () => boolean) {
  let wake: () => void = () => {}
  let woken = false
  const unsubscribe = bus.subscribe('outbox.wake', () => {
    woken = true
    wake()
  })
  return {
    /** What comes from here on ends the next pause. */
    begin(): void {
      woken = false
    },
    /** Settles after the given time; with `untilWoken`, as soon as there are facts to tell. */
    async rest(ms: number, { untilWoken = false } = {}): Promise<void> {
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
