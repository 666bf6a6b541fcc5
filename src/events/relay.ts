import { Client } from 'pg'
import type { Log } from '../log.ts'
import type { Bus } from './bus.ts'
import type { EventName, EventPayload } from './catalog.ts'

/** Any number; the same in every hub, so that one at a time relays. */
const RELAY_LOCK = 7_466_302
const BATCH_LIMIT = 500
/** Finds facts whose wake-up hint was lost. */
const POLL_MS = 250
/** How soon another hub takes over from one that died. */
const CANDIDACY_MS = 500

export type Fact = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]

export interface Relay {
  /** Facts told and batches read since the start of this process. */
  readonly published: number
  readonly batches: number
  /** Stops after the batch in hand. */
  close(): Promise<void>
}

/**
 * Carries facts from the outbox to the hub, in order, each at least once: a fact is removed only after it was
 * published. One process at a time does so; the lock is its database connection's, so it falls with it.
 */
export function startRelay(parts: {
  databaseUrl: string
  bus: Bus
  log: Log
  publish: (fact: Fact) => void
}): Relay {
  const { databaseUrl, bus, log, publish } = parts
  let closing = false
  let [published, batches] = [0, 0]
  let wake: () => void = () => {}
  let woken = false
  const unsubscribe = bus.subscribe('outbox.wake', () => {
    woken = true
    wake()
  })

  /** Settles after the given time, or as soon as somebody says that there is something to do. */
  async function rest(ms: number, untilWoken: boolean): Promise<void> {
    if (closing || (untilWoken && woken)) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        if (!untilWoken && !closing) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** One fact that cannot be told must not keep all others back. */
  function tell(fact: Fact): void {
    try {
      publish(fact)
      published++
    } catch (cause) {
      log.error({ err: cause, fact: fact.name }, 'fact not published')
    }
  }

  async function drain(client: Client): Promise<void> {
    for (;;) {
      const { rows } = await client.query({
        name: 'relay-batch',
        text: `select id, name, payload from outbox order by id limit ${BATCH_LIMIT}`,
      })
      if (rows.length === 0) return
      batches++
      for (const { name, payload } of rows) tell({ name, payload } as Fact)
      await client.query({
        name: 'relay-done',
        text: 'delete from outbox where id = any($1::bigint[])',
        values: [rows.map((row) => row.id)],
      })
      if (closing) return
    }
  }

  async function lead(client: Client): Promise<void> {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as leading', [RELAY_LOCK])
    if (!rows[0].leading) return
    log.debug('relaying the outbox')
    while (!closing) {
      woken = false
      await drain(client)
      await rest(POLL_MS, true)
    }
  }

  async function run(): Promise<void> {
    let failing = false
    while (!closing) {
      const client = new Client({
        connectionString: databaseUrl,
        application_name: 'wheelhouse-relay',
        connectionTimeoutMillis: 5_000,
        query_timeout: 10_000,
        keepAlive: true,
      })
      client.on('error', () => {}) // the query in hand reports it
      try {
        await client.connect()
        while (!closing) {
          await lead(client)
          failing = false
          await rest(CANDIDACY_MS, false)
        }
      } catch (cause) {
        if (!failing) log.warn({ err: cause }, 'outbox waits for the database')
        failing = true
        await rest(CANDIDACY_MS, false)
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
      unsubscribe()
      wake()
      await ended
    },
  }
}
