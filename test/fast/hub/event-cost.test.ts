import { Socket as NetSocket } from 'node:net'
import { sql } from 'kysely'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { recordStatements } from '../../support/database/statements.ts'
import {
  openSessionFixture,
  performAction,
  type SessionFixture,
} from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The statements of a message and of returning clients, and the writes of a burst. Limits of time belong to the benchmark.

const MESSAGES = 20
const CLIENTS = 200
const BURST = 200
/** The hub releases returning clients once in this time. */
const RELEASE_MS = 25

let world: World
let fixture: SessionFixture
beforeAll(async () => {
  world = await createWorld()
  fixture = await openSessionFixture(world)
})
afterAll(async () => {
  await performAction(fixture.operator, fixture.id, 'end')
  await world[Symbol.asyncDispose]()
})

const send = (body: string) => fixture.operator.post(`${fixture.path}/messages`, { body })

/** Returns the rows that were inserted, updated and deleted in a table of this database so far. */
async function rowsWritten(table: string): Promise<number> {
  await using client = await connectTo(world.database.url)
  const { rows } = await client.query<{ count: number }>(
    'select (n_tup_ins + n_tup_upd + n_tup_del)::int as count from pg_stat_user_tables where relname = $1',
    [table],
  )
  return rows[0]?.count ?? Number.NaN
}

/** Makes the platform's connections to PostgreSQL report their counts, which they do after ten idle seconds otherwise. */
async function reportCounts(): Promise<void> {
  const report = () => sql`select pg_stat_force_next_flush()`.execute(world.platform.core.db)
  await Promise.all(Array.from({ length: 8 }, report))
}

test('a message costs two statements of the api, two of the outbox relay, and five rows', async () => {
  const hub = await fixture.owner.hub()
  await hub.send('session:watch', { session_id: fixture.id })
  await send('prepares connections and plans')
  await hub.saw('session:event', { seq: 2 })

  const startedMs = performance.now()
  const statements = recordStatements()
  for (let n = 1; n <= MESSAGES; n++) {
    await send(`message ${n}`)
    await hub.saw('session:event', { seq: 2 + n })
  }
  statements[Symbol.dispose]()
  const tookMs = performance.now() - startedMs

  const ofMessages = ['select "token"', 'insert into "messages"', 'delete from outbox'].map((part) => {
    expect(statements.count(part), part).toBeLessThanOrEqual(MESSAGES)
    return statements.count(part)
  })
  // Each hint causes a read of the outbox, and each poll.
  const reads = statements.count(/from outbox order by/)
  expect(reads).toBeLessThanOrEqual(MESSAGES + 2 + tookMs / 250)
  // The rest are polls, at most fifty a second, and the first statements of connections and of polls.
  const others = statements.texts.length - ofMessages.reduce((total, count) => total + count, reads)
  expect(others).toBeLessThanOrEqual(MESSAGES + 10 + tookMs / 20)

  await world.drained()
  await waitFor(async () => {
    await reportCounts()
    // The first entry of the log, and those of the messages.
    expect(await rowsWritten('session_events')).toBe(MESSAGES + 2)
    expect(await rowsWritten('outbox')).toBeGreaterThanOrEqual(2 * (MESSAGES + 2))
  })
  for (const table of ['outbound_events', 'user_events', 'event_streams'])
    expect(await rowsWritten(table), `${table}: no user reads a stream`).toBe(0)
  hub.close()
})

/** Counts the writes of the hub's sockets, until it is disposed. */
function countHubWrites() {
  const port = Number(new URL(world.hubUrl).port)
  const { _write, _writev } = NetSocket.prototype
  let count = 0
  NetSocket.prototype._write = function (...input) {
    if (this.localPort === port) count++
    return _write.apply(this, input)
  }
  NetSocket.prototype._writev = function (...input) {
    if (this.localPort === port) count++
    return _writev?.apply(this, input)
  }
  return {
    get count() {
      return count
    },
    [Symbol.dispose]() {
      Object.assign(NetSocket.prototype, { _write, _writev })
    },
  }
}

test('a burst of events reaches a client with few writes', async () => {
  const hub = await fixture.owner.hub()
  await hub.send('session:watch', { session_id: fixture.id })
  await world.drained()
  using writes = countHubWrites()
  const events = Array.from({ length: BURST }, (_, index) => ({
    name: 'session.event',
    payload: JSON.stringify({
      session_id: fixture.id,
      seq: 1_000 + index,
      type: 'test',
      data: {},
      at: new Date().toISOString(),
    }),
  }))
  await world.platform.core.db.insertInto('outbox').values(events).execute()
  await hub.saw('session:event', { seq: 999 + BURST })
  const seqs = hub.of('session:event').map(({ seq }) => seq)
  expect(seqs).toEqual(Array.from({ length: BURST }, (_, index) => 1_000 + index))
  expect(writes.count).toBeLessThan(BURST / 4)
  hub.close()
})

test('clients that return together share the queries of each kind', async () => {
  const { key } = await fixture.owner.key()
  await fixture.owner.request('GET', '/api/auth/profile', undefined, key) // records the first use of the key
  using statements = recordStatements()
  const startedMs = performance.now()
  const sockets: Socket[] = []
  const returning = Array.from({ length: CLIENTS }, async () => {
    const socket = io(world.hubUrl, { auth: { token: key }, transports: ['websocket'], forceNew: true })
    sockets.push(socket)
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    const [answer, page] = await Promise.all([
      socket.emitWithAck('session:watch', { session_id: fixture.id, after: 0 }),
      socket.emitWithAck('notifications:since', {}),
    ])
    expect(answer.events.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: answer.head }, (_, index) => index + 1),
    )
    expect(page.ok).toBe(true)
  })
  await Promise.all(returning)
  const tookMs = performance.now() - startedMs
  for (const socket of sockets) socket.close()

  const kinds = {
    credentials: /from "api_keys" inner join "users"/,
    roles: /select "id", "is_client", "is_operator"/,
    'rights of the room':
      /select "sessions"\."id", "sessions"\."operator_id", "sessions"\."client_id", "sessions"\."own_operator"/,
    'missed entries': /inner join "session_events" as "entry"/,
    'states of sessions': /"session_latency"."buckets"/,
    'missed notifications': /as page on page.ordinal/,
  }
  const mostReleases = Math.ceil(tookMs / RELEASE_MS) + 1
  for (const [kind, pattern] of Object.entries(kinds)) {
    const count = statements.count(pattern)
    expect(count, kind).toBeGreaterThan(0)
    // A release of more than fifty clients needs several queries for their notifications.
    const allowed = mostReleases + (kind === 'missed notifications' ? CLIENTS / 50 : 0)
    expect(count, `${kind} in ${Math.round(tookMs)} ms`).toBeLessThanOrEqual(allowed)
  }
  expect(statements.count('insert into "user_presence"')).toBeLessThanOrEqual(
    tookMs / 100 + 1 + tookMs / 5_000,
  )
})
