import type { SessionLogEvent } from '@wheelhouse/protocol'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { startRedis, type TestRedis } from '../../support/processes/redis.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Options for a process without a hub. Hubs are added as separate nodes, so that each can be stopped. */
const hubless = { bus: 'redis', env: { ROLES: 'api,gateway,worker' } } as const

/** Sends a message over REST, which needs no hub; returns its number. */
async function sendMessage({ id, operator }: SessionFixture, body: string): Promise<number> {
  const reply = await operator.post(`/api/sessions/${id}/messages`, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.seq
}

const storedLog = async ({ id, owner }: SessionFixture): Promise<SessionLogEvent[]> =>
  (await owner.get(`/api/sessions/${id}/events?limit=200`)).body.events

/** Watches a session through one hub and records its log. */
async function watch(world: { add(close: () => void): void }, url: string, session: SessionFixture) {
  const log: SessionLogEvent[] = []
  const client = new HubClient({ url, token: session.owner.token, reconnect: { baseMs: 5, maxMs: 50 } })
  world.add(() => client.close())
  await client.connect()
  await client.watch(session.id, { onEvent: (event) => log.push(event) })
  return {
    client,
    log,
    reaches: (seq: number) => waitFor(() => expect(log.at(-1)?.seq).toBe(seq)),
  }
}

/** Closes resources at the end of a test, newest first. */
function closers() {
  const all: (() => unknown)[] = []
  return {
    add: (close: () => unknown) => void all.push(close),
    [Symbol.asyncDispose]: async () => {
      for (const close of all.toReversed()) await close()
    },
  }
}

/** Returns the number of events in the outbox. */
const pendingEvents = async (world: World) =>
  (await world.platform.core.db.selectFrom('outbox').select('id').execute()).length

describe('two hubs', () => {
  let world: World
  let second: Awaited<ReturnType<World['addNode']>>
  beforeAll(async () => {
    world = await createWorld({ bus: 'redis' })
    second = await world.addNode('hub')
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('clients of one hub receive the messages of clients of another hub, in order', async () => {
    await using closing = closers()
    const session = await openSessionFixture(world)
    const here = await watch(closing, world.hubUrl, session)
    const there = await watch(closing, second.hubUrl, session)
    const hubs = [
      await session.operator.hub({ url: second.hubUrl }),
      await session.operator.hub({ url: world.hubUrl }),
    ]
    for (const hub of hubs)
      expect(await hub.send('session:watch', { session_id: session.id })).toMatchObject({ ok: true })
    for (let count = 0; count < 10; count++) {
      const sent = await hubs[count % 2]?.send('chat:send', {
        session_id: session.id,
        body: `message ${count}`,
        client_message_id: `m${count}`,
      })
      expect(sent).toMatchObject({ ok: true, message: { seq: count + 2 } })
    }
    await here.reaches(11)
    await there.reaches(11)
    const stored = await storedLog(session)
    expect(here.log).toEqual(stored)
    expect(there.log).toEqual(stored)
    // Typing and notifications reach the other hub too.
    const owner = await session.owner.hub({ url: second.hubUrl })
    await owner.send('session:watch', { session_id: session.id })
    await hubs[1]?.send('chat:typing', { session_id: session.id })
    await owner.saw('chat:typing', { user_id: session.operator.id })
    await session.operator.patch(`/api/sessions/${session.id}`, { action: 'end' })
    await owner.saw('notification', { type: 'session.ended' })
  })

  test('long polling is refused with an error that says what to do, because it needs one hub for all requests', async () => {
    const refused = await fetch(`${world.hubUrl}/socket.io/?EIO=4&transport=polling`)
    expect(refused.status).toBe(403)
    expect((await refused.json()).message).toContain("transports: ['websocket']")
    const { token } = await world.client()
    const client = new HubClient({ url: world.hubUrl, token })
    await client.connect()
    client.close()
  })

  test('only one hub relays the outbox: each socket on either node receives each event once', async () => {
    const session = await openSessionFixture(world)
    const sockets = [await session.owner.hub(), await session.owner.hub({ url: second.hubUrl })]
    for (const socket of sockets) await socket.send('session:watch', { session_id: session.id })
    for (let count = 0; count < 30; count++) await sendMessage(session, `message ${count}`)
    for (const socket of sockets) {
      await socket.saw('session:event', { seq: 31 })
      // The entry of the start may have been relayed before the socket watched.
      const seqs = socket.of('session:event').flatMap(({ seq }) => (seq > 1 ? [seq] : []))
      expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 2))
    }
  })

  test('a client that reconnects to another hub with `after` receives every event once', async () => {
    const session = await openSessionFixture(world)
    const session_id = session.id
    const seen: number[] = []
    let url = world.hubUrl
    for (let step = 0; step < 6; step++) {
      const hub = await session.owner.hub({ url })
      const answer = await hub.send('session:watch', { session_id, after: seen.length })
      expect(answer.ok).toBe(true)
      seen.push(...answer.events.map(({ seq }: { seq: number }) => seq))
      const live = await sendMessage(session, 'while watching')
      await hub.saw('session:event', { seq: live })
      // An event of the answer may arrive live as well; its number identifies it as a repetition.
      seen.push(...hub.of('session:event').flatMap(({ seq }) => (seq > (seen.at(-1) ?? 0) ? [seq] : [])))
      hub.close()
      await sendMessage(session, 'without a watching client')
      url = url === world.hubUrl ? second.hubUrl : world.hubUrl
    }
    expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
  })

  test('when the database connection of the outbox relay breaks, no event is lost', async () => {
    await using closing = closers()
    const session = await openSessionFixture(world)
    const observers = [
      await watch(closing, world.hubUrl, session),
      await watch(closing, second.hubUrl, session),
    ]
    const admin = new Client({ connectionString: world.database.url })
    await admin.connect()
    closing.add(() => admin.end())
    let last = 1
    for (let round = 0; round < 3; round++) {
      const sending = Array.from({ length: 5 }, (_, index) =>
        sendMessage(session, `round ${round}, ${index}`),
      )
      const killed = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'wheelhouse-relay'`,
      )
      expect(killed.rowCount).toBeGreaterThan(0)
      last = Math.max(...(await Promise.all(sending)))
      for (const observer of observers) await observer.reaches(last)
    }
    expect(last).toBe(16)
    for (const { log } of observers) expect(log).toEqual(await storedLog(session))
  })

  test('the sockets of a revoked API key are closed on every hub within a second; others stay open', async () => {
    const owner = await world.client()
    const [revoked, kept] = [await owner.key(), await owner.key()]
    const urls = [world.hubUrl, second.hubUrl]
    const revokedSockets = await Promise.all(urls.map((url) => owner.hub({ url, token: revoked.key })))
    const others = await Promise.all(
      urls.flatMap((url) => [owner.hub({ url }), owner.hub({ url, token: kept.key })]),
    )
    expect((await owner.delete(`/api/auth/api-keys/${revoked.id}`)).status).toBe(204)
    await closedWithinASecond(revokedSockets)
    for (const socket of others) expect(await socket.send('robots:watch')).toMatchObject({ ok: true })
    await expect(owner.hub({ token: revoked.key })).rejects.toThrow(/revoked/)
  })

  test('the sockets of a revoked API key are closed within a second also without a hint', async () => {
    const owner = await world.client()
    const { id, key } = await owner.key()
    const revokedSockets = await Promise.all(
      [world.hubUrl, second.hubUrl].map((url) => owner.hub({ url, token: key })),
    )
    const client = new Client({ connectionString: world.database.url })
    await client.connect()
    try {
      await client.query('update api_keys set revoked_at = now() where id = $1', [id])
      await closedWithinASecond(revokedSockets)
    } finally {
      await client.end()
    }
  })
})

test('when the hub with the outbox relay stops, another hub becomes the leader, and its clients reconnect', async () => {
  await using world = await createWorld(hubless)
  await using closing = closers()
  const port = String(await freePort())
  const first = await world.addNode('hub', { HUB_PORT: port })
  const session = await openSessionFixture(world)
  await world.drained() // the first hub is the leader of the outbox relay
  const second = await world.addNode('hub')
  const atFirst = await watch(closing, first.hubUrl, session)
  const atSecond = await watch(closing, second.hubUrl, session)
  await sendMessage(session, 'both hubs are up')
  await atSecond.reaches(2)

  await first.stop()
  const last = await sendMessage(session, 'one hub has stopped')
  await atSecond.reaches(last)

  const again = await world.addNode('hub', { HUB_PORT: port })
  await atFirst.reaches(last)
  expect(again.hubUrl).toBe(first.hubUrl)
  const next = await sendMessage(session, 'both are back')
  for (const observer of [atFirst, atSecond]) {
    await observer.reaches(next)
    expect(observer.log).toEqual(await storedLog(session))
  }
})

test('events that were committed while no hub ran are delivered once one runs', async () => {
  await using world = await createWorld(hubless)
  await using closing = closers()
  const port = String(await freePort())
  const hub = await world.addNode('hub', { HUB_PORT: port })
  const session = await openSessionFixture(world)
  const observer = await watch(closing, hub.hubUrl, session)
  const notified: string[] = []
  await observer.client.onNotification(({ id }) => notified.push(id))
  await hub.stop()

  const first = await sendMessage(session, 'without a hub')
  expect((await session.operator.patch(`/api/sessions/${session.id}`, { action: 'end' })).status).toBe(200)
  expect(await pendingEvents(world), 'events in the outbox').toBeGreaterThanOrEqual(4)

  await world.addNode('hub', { HUB_PORT: port })
  await observer.reaches(first + 1)
  expect(observer.log).toEqual(await storedLog(session))
  await waitFor(() => expect(notified).toEqual(['1', '2']))
  await world.drained()
})

test('delayed events are also delivered live to watching clients', async () => {
  await using world = await createWorld(hubless)
  // Acquires the lock of the outbox relay, like a hub that is stuck between commit and publish.
  const stuck = new Client({ connectionString: world.database.url })
  await stuck.connect()
  await using closing = closers()
  closing.add(() => stuck.end().catch(() => {}))
  stuck.on('error', () => {})
  await stuck.query('select pg_advisory_lock(7466302)')
  const { rows } = await stuck.query('select pg_backend_pid() as pid')
  // No other hub replaces a leader whose query runs.
  stuck.query('select pg_sleep(3600)').catch(() => {})
  const hub = await world.addNode('hub')
  const session = await openSessionFixture(world)
  const socket = await session.owner.hub({ url: hub.hubUrl })
  await socket.send('session:watch', { session_id: session.id })
  const last = await sendMessage(session, 'delayed')
  await socket.send('robots:watch') // after a round trip the event has not arrived
  expect(socket.of('session:event')).toEqual([])
  expect(await pendingEvents(world)).toBeGreaterThan(0)
  await query(world.database.url, 'select pg_terminate_backend($1)', [rows[0].pid])
  await socket.saw('session:event', { seq: last })
  await socket.saw('notification', { type: 'session.started' })
})

async function closedWithinASecond(
  revokedSockets: readonly { socket: { connected: boolean } }[],
): Promise<void> {
  await waitFor(() =>
    expect(revokedSockets.map(({ socket }) => socket.connected)).toEqual(revokedSockets.map(() => false)),
  )
}

/** A Redis behind a proxy, which can stop, restart empty, or lose single connections. */
class FragileRedis {
  readonly #proxy: TcpProxy
  #redis: TestRedis

  static async start(): Promise<FragileRedis> {
    const redis = await startRedis()
    return new FragileRedis(await createTcpProxy(redis.url), redis)
  }

  private constructor(proxy: TcpProxy, redis: TestRedis) {
    this.#proxy = proxy
    this.#redis = redis
  }

  get url(): string {
    return this.#proxy.url
  }

  /** Stops the process and breaks its connections. */
  async kill(): Promise<void> {
    this.#proxy.cut()
    await this.#redis.stop()
  }

  /** Starts an empty process at the same address. */
  async restart(): Promise<void> {
    this.#redis = await startRedis()
    this.#proxy.point(this.#redis.url)
    this.#proxy.restore()
  }

  /** Runs commands on a connection that is not part of the platform. */
  async run<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.#redis.url)
    try {
      return await work(redis)
    } finally {
      redis.disconnect()
    }
  }

  /** Breaks the connections of this name only; returns their number. */
  breakConnections(name: string): Promise<number> {
    return this.run(async (redis) => {
      const list = String(await redis.client('LIST'))
      const ids = [...list.matchAll(/^id=(\d+) .*? name=(\S*)/gm)].filter((entry) => entry[2] === name)
      for (const [, id] of ids) await redis.client('KILL', 'ID', id as string)
      return ids.length
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await this.#proxy[Symbol.asyncDispose]()
  }
}

async function twoHubsOver(redis: FragileRedis, closing: ReturnType<typeof closers>) {
  const world = await createWorld({ env: { REDIS_URL: redis.url } })
  const second = await world.addNode('hub')
  const session = await openSessionFixture(world)
  const observers = [
    await watch(closing, world.hubUrl, session),
    await watch(closing, second.hubUrl, session),
  ]
  const allReach = async (seq: number) => {
    for (const observer of observers) await observer.reaches(seq)
  }
  return { world, second, session, observers, allReach }
}

test('no event is lost if Redis is flushed or unavailable for a while', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  const { world, session, observers, allReach } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.run((direct) => direct.flushall())
  await allReach(await sendMessage(session, 'flushed'))

  await redis.kill()
  const local = observers[0]!
  for (let count = 0; count < 5; count++) await sendMessage(session, `without Redis ${count}`)
  // The hub with the outbox relay delivers to its own clients.
  await local.reaches(7)
  await redis.restart()
  await allReach(7)
  for (let count = 0; count < 5; count++)
    await allReach(await sendMessage(session, `with Redis again ${count}`))
  for (const { log } of observers) expect(log).toEqual(await storedLog(session))
})

test.each(['wheelhouse-hub-publisher', 'wheelhouse-hub-subscriber'])(
  'clients of a hub that loses only its Redis connection %s for a moment receive all events',
  async (name) => {
    await using redis = await FragileRedis.start()
    await using closing = closers()
    const { world, session, observers, allReach } = await twoHubsOver(redis, closing)
    await using _ = world
    let last = 1
    for (let round = 0; round < 3; round++) {
      const sending = [sendMessage(session, `before ${round}`)]
      // After the round before, the hub may still be connecting.
      await waitFor(async () => expect(await redis.breakConnections(name)).toBeGreaterThan(0))
      for (let count = 0; count < 5; count++) sending.push(sendMessage(session, `${round} ${count}`))
      last = Math.max(...(await Promise.all(sending)))
      // No later event reveals the gap: the hub must notice it by itself.
      await allReach(last)
    }
    for (const { log } of observers) expect(log).toEqual(await storedLog(session))
  },
)

test('hubs that start while Redis is unavailable join each other once it is available', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  await redis.kill()
  const { world, session, observers, allReach } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.restart()
  await sendMessage(session, 'before they have joined')
  // Once they have joined, events are delivered live.
  await allReach(2)
  await allReach(await sendMessage(session, 'after they have joined'))
  for (const { log } of observers) expect(log).toEqual(await storedLog(session))
})

test('hubs shut down while Redis is unavailable', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  const { world, second, session, observers } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.kill()
  await second.stop()
  await observers[0]?.reaches(await sendMessage(session, 'to one hub'))
})
