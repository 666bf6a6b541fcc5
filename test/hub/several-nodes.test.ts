import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket as TcpSocket } from 'node:net'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { HubClient } from '../../packages/sdk/index.ts'
import { freePort } from '../../src/core/database/embedded-postmaster.ts'
import { startRedis, type TestRedis } from '../support/processes/redis.ts'
import { openSessionFixture, type SessionFixture } from '../support/world/session-fixtures.ts'
import { createWorld, type World } from '../support/world/world.ts'

/** A process without a hub; the hubs are added, so that any of them can be stopped. */
const hubless = { bus: 'redis', env: { ROLES: 'api,gateway,worker' } } as const

/** Says something over REST, which needs no hub; answers with its number. */
async function sendMessage({ id, operator }: SessionFixture, body: string): Promise<number> {
  const reply = await operator.post(`/api/sessions/${id}/messages`, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.seq
}

const storedLog = async ({ id, owner }: SessionFixture): Promise<SessionLogEvent[]> =>
  (await owner.get(`/api/sessions/${id}/events?limit=200`)).body.events

/** Watches a session through one hub; whatever happens to that hub, its log must end up complete. */
async function watch(world: { add(close: () => void): void }, url: string, session: SessionFixture) {
  const log: SessionLogEvent[] = []
  const client = new HubClient({ url, token: session.owner.token, reconnect: { baseMs: 5, maxMs: 50 } })
  world.add(() => client.close())
  await client.connect()
  await client.watch(session.id, { onEvent: (event) => log.push(event) })
  return {
    client,
    log,
    reaches: (seq: number) =>
      vi.waitFor(() => expect(log.at(-1)?.seq).toBe(seq), { timeout: 10_000, interval: 5 }),
  }
}

/** Closes at the end of a test, newest first. */
function closers() {
  const all: (() => unknown)[] = []
  return {
    add: (close: () => unknown) => void all.push(close),
    [Symbol.asyncDispose]: async () => {
      for (const close of all.toReversed()) await close()
    },
  }
}

/** Waiting facts, so that a test may know whether anybody relays. */
const waiting = async (world: World) =>
  (await world.platform.core.db.selectFrom('outbox').select('id').execute()).length

test('what is said at one hub is heard at the other, in order', async () => {
  await using world = await createWorld({ bus: 'redis' })
  await using closing = closers()
  const second = await world.addNode('hub')
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
  // Typing and notifications cross over as well.
  const owner = await session.owner.hub({ url: second.hubUrl })
  await owner.send('session:watch', { session_id: session.id })
  await hubs[1]?.send('chat:typing', { session_id: session.id })
  await owner.saw('chat:typing', { user_id: session.operator.id })
  await session.operator.patch(`/api/sessions/${session.id}`, { action: 'end' })
  await owner.saw('notification', { type: 'session.ended' })
})

test('long polling, which needs one hub for all its requests, is refused in words that say what to do', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const refused = await fetch(`${world.hubUrl}/socket.io/?EIO=4&transport=polling`)
  expect(refused.status).toBe(403)
  expect((await refused.json()).message).toContain("transports: ['websocket']")
  const { token } = await world.client()
  const client = new HubClient({ url: world.hubUrl, token })
  await client.connect()
  client.close()
})

test('only one hub relays: each event comes once to a socket, on either node', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const second = await world.addNode('hub')
  const session = await openSessionFixture(world)
  const sockets = [await session.owner.hub(), await session.owner.hub({ url: second.hubUrl })]
  for (const socket of sockets) await socket.send('session:watch', { session_id: session.id })
  for (let count = 0; count < 30; count++) await sendMessage(session, `message ${count}`)
  for (const socket of sockets) {
    await socket.saw('session:event', { seq: 31 })
    const seqs = socket.of('session:event').map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 2))
  }
})

test('a watcher that moves to another hub with `after` misses nothing and gets nothing twice', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const second = await world.addNode('hub')
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
    // What the answer had may be told once more, as it happens; by its number it is known to be a repetition.
    seen.push(...hub.of('session:event').flatMap(({ seq }) => (seq > (seen.at(-1) ?? 0) ? [seq] : [])))
    hub.close()
    await sendMessage(session, 'while nobody watches')
    url = url === world.hubUrl ? second.hubUrl : world.hubUrl
  }
  expect(seen).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
})

test('when the hub that relays stops, another takes over, and its clients find their way back', async () => {
  await using world = await createWorld(hubless)
  await using closing = closers()
  const port = String(await freePort())
  const first = await world.addNode('hub', { HUB_PORT: port })
  const session = await openSessionFixture(world)
  await world.drained() // the first hub relays
  const second = await world.addNode('hub')
  const atFirst = await watch(closing, first.hubUrl, session)
  const atSecond = await watch(closing, second.hubUrl, session)
  await sendMessage(session, 'both hubs are up')
  await atSecond.reaches(2)

  await first.stop()
  const stoppedMs = performance.now()
  const last = await sendMessage(session, 'one hub is gone')
  await atSecond.reaches(last)
  expect(performance.now() - stoppedMs, 'until the other hub has taken over').toBeLessThan(3_000)

  const again = await world.addNode('hub', { HUB_PORT: port })
  await atFirst.reaches(last)
  expect(again.hubUrl).toBe(first.hubUrl)
  const next = await sendMessage(session, 'both are back')
  for (const observer of [atFirst, atSecond]) {
    await observer.reaches(next)
    expect(observer.log).toEqual(await storedLog(session))
  }
})

test("when the relaying hub's database connection breaks, relaying goes on and nothing is lost", async () => {
  await using world = await createWorld({ bus: 'redis' })
  await using closing = closers()
  const second = await world.addNode('hub')
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
    const sending = Array.from({ length: 5 }, (_, index) => sendMessage(session, `round ${round}, ${index}`))
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

test('what was committed while no hub ran is delivered once one runs: a crash before publishing loses nothing', async () => {
  await using world = await createWorld(hubless)
  await using closing = closers()
  const port = String(await freePort())
  const hub = await world.addNode('hub', { HUB_PORT: port })
  const session = await openSessionFixture(world)
  const observer = await watch(closing, hub.hubUrl, session)
  const notified: string[] = []
  await observer.client.onNotification(({ id }) => notified.push(id))
  await hub.stop()

  const first = await sendMessage(session, 'to nobody')
  expect((await session.operator.patch(`/api/sessions/${session.id}`, { action: 'end' })).status).toBe(200)
  expect(await waiting(world), 'facts that wait').toBeGreaterThanOrEqual(4)

  await world.addNode('hub', { HUB_PORT: port })
  await observer.reaches(first + 1)
  expect(observer.log).toEqual(await storedLog(session))
  await vi.waitFor(() => expect(notified).toEqual(['1', '2']), 5_000)
  await world.drained()
})

test('facts that were stranded are also told live, to who watches already', async () => {
  await using world = await createWorld(hubless)
  // Holds what relaying hubs hold, as a hub does that is stuck between commit and publish.
  const stuck = new Client({ connectionString: world.database.url })
  await stuck.connect()
  await using closing = closers()
  closing.add(() => stuck.end().catch(() => {}))
  await stuck.query('select pg_advisory_lock(7466302)')
  const signsOfLife = setInterval(() => stuck.query('select 1').catch(() => {}), 100)
  closing.add(() => clearInterval(signsOfLife))
  const hub = await world.addNode('hub')
  const session = await openSessionFixture(world)
  const socket = await session.owner.hub({ url: hub.hubUrl })
  await socket.send('session:watch', { session_id: session.id })
  const last = await sendMessage(session, 'stranded')
  await socket.send('robots:watch') // a round trip later it has still not come
  expect(socket.of('session:event')).toEqual([])
  expect(await waiting(world)).toBeGreaterThan(0)
  clearInterval(signsOfLife)
  await stuck.end()
  await socket.saw('session:event', { seq: last })
  await socket.saw('notification', { type: 'session.started' })
})

test('a revoked API key loses its sockets on every hub within a second; other credentials keep theirs', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const second = await world.addNode('hub')
  const owner = await world.client()
  const [revoked, kept] = [await owner.key(), await owner.key()]
  const urls = [world.hubUrl, second.hubUrl]
  const revokedSockets = await Promise.all(urls.map((url) => owner.hub({ url, token: revoked.key })))
  const others = await Promise.all(
    urls.flatMap((url) => [owner.hub({ url }), owner.hub({ url, token: kept.key })]),
  )
  expect((await owner.delete(`/api/auth/api-keys/${revoked.id}`)).status).toBe(204)
  await closedWithinASecond(revokedSockets)
  for (const other of others) expect(await other.send('robots:watch')).toMatchObject({ ok: true })
  await expect(owner.hub({ token: revoked.key })).rejects.toThrow(/revoked/)
})

test('a revoked API key loses its sockets within a second also when nobody was told of it', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const second = await world.addNode('hub')
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

async function closedWithinASecond(
  revokedSockets: readonly { socket: { connected: boolean } }[],
): Promise<void> {
  await vi.waitFor(
    () =>
      expect(revokedSockets.map(({ socket }) => socket.connected)).toEqual(revokedSockets.map(() => false)),
    {
      timeout: 1_000,
      interval: 5,
    },
  )
}

/** A Redis behind an address of ours that can go away, come back empty, or lose single connections. */
class FragileRedis {
  readonly url: string
  readonly #server: Server
  readonly #links = new Set<TcpSocket>()
  #redis: TestRedis | undefined

  static async start(): Promise<FragileRedis> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const fragile = new FragileRedis(server)
    await fragile.comeBack()
    return fragile
  }

  private constructor(server: Server) {
    this.#server = server
    this.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('connection', (client) => this.#carry(client))
  }

  #carry(client: TcpSocket): void {
    client.on('error', () => {})
    if (!this.#redis) return void client.destroy()
    const redis = connect(Number(new URL(this.#redis.url).port), new URL(this.#redis.url).hostname)
    redis.on('error', () => {})
    this.#links.add(client)
    client.on('close', () => {
      this.#links.delete(client)
      redis.destroy()
    })
    redis.on('close', () => client.destroy())
    client.pipe(redis)
    redis.pipe(client)
  }

  /** Ends the process; until it comes back, nobody answers. */
  async die(): Promise<void> {
    const dying = this.#redis
    this.#redis = undefined
    for (const link of this.#links) link.destroy()
    await dying?.stop()
  }

  /** A new process, with nothing in it, at the same address. */
  async comeBack(): Promise<void> {
    this.#redis = await startRedis()
  }

  /** Runs commands on a connection that is not part of the platform. */
  async ask<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis((this.#redis as TestRedis).url)
    try {
      return await work(redis)
    } finally {
      redis.disconnect()
    }
  }

  /** Breaks the connections of this name, and no others. Answers with how many there were. */
  breakConnections(name: string): Promise<number> {
    return this.ask(async (redis) => {
      const list = String(await redis.client('LIST'))
      const ids = [...list.matchAll(/^id=(\d+) .*? name=(\S*)/gm)].filter((entry) => entry[2] === name)
      for (const [, id] of ids) await redis.client('KILL', 'ID', id as string)
      return ids.length
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die()
    this.#server.close()
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
  return { world, second, session, watchers: observers, allReach }
}

test('Redis wiped, and gone for a while: nothing is lost, and clients of both hubs end up complete', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  const { world, session, watchers: observers, allReach } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.ask((direct) => direct.flushall())
  await allReach(await sendMessage(session, 'wiped'))

  await redis.die()
  const local = observers[0]!
  for (let count = 0; count < 5; count++) await sendMessage(session, `without Redis ${count}`)
  // The hub that relays tells its own clients all the same.
  await local.reaches(7)
  await redis.comeBack()
  await allReach(7)
  for (let count = 0; count < 5; count++)
    await allReach(await sendMessage(session, `with Redis again ${count}`))
  for (const { log } of observers) expect(log).toEqual(await storedLog(session))
})

test.each(['wheelhouse-hub-publisher', 'wheelhouse-hub-subscriber'])(
  'a hub that loses only its Redis connection %s for a moment leaves no client behind',
  async (name) => {
    await using redis = await FragileRedis.start()
    await using closing = closers()
    const { world, session, watchers: observers, allReach } = await twoHubsOver(redis, closing)
    await using _ = world
    let last = 1
    for (let round = 0; round < 3; round++) {
      const sending = [sendMessage(session, `before ${round}`)]
      expect(await redis.breakConnections(name)).toBeGreaterThan(0)
      for (let count = 0; count < 5; count++) sending.push(sendMessage(session, `${round} ${count}`))
      last = Math.max(...(await Promise.all(sending)))
      // Nothing more is said: what was lost must be noticed by itself.
      await allReach(last)
    }
    for (const { log } of observers) expect(log).toEqual(await storedLog(session))
  },
)

test('hubs that start while Redis is away join each other once it is there', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  await redis.die()
  const { world, session, watchers: observers, allReach } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.comeBack()
  await sendMessage(session, 'is anybody there?')
  // Sooner or later they are joined; from then on, everything crosses live.
  await allReach(2)
  await allReach(await sendMessage(session, 'good'))
  for (const { log } of observers) expect(log).toEqual(await storedLog(session))
})

test('hubs stop in good order while Redis is away', async () => {
  await using redis = await FragileRedis.start()
  await using closing = closers()
  const { world, second, session, watchers: observers } = await twoHubsOver(redis, closing)
  await using _ = world
  await redis.die()
  await second.stop()
  await observers[0]?.reaches(await sendMessage(session, 'alone'))
})
