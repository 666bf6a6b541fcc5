import { randomUUID } from 'node:crypto'
import { expect, inject, test, vi } from 'vitest'
import { HubClient } from '../../packages/sdk/index.ts'
import { createTcpProxy } from '../support/network/tcp-proxy.ts'
import { createWorld, type World } from '../support/world/world.ts'

const WAIT_OPTIONS = { timeout: 15_000, interval: 10 }
/** As many as one statement of a gateway makes. */
const ROBOTS_PER_EVENT = 2_000

const hubless = { bus: 'redis', env: { ROLES: 'api,gateway,worker' } } as const

/** A fact about many robots that nobody knows, and about `robotId` at its end. */
const burst = (owner_id: string, robotId?: string, status = 'OFFLINE') => ({
  name: 'robots.status',
  payload: JSON.stringify({
    robots: Array.from({ length: ROBOTS_PER_EVENT }, (_, index) => ({
      robot_id: index === ROBOTS_PER_EVENT - 1 && robotId ? robotId : randomUUID(),
      status,
      last_heartbeat: null,
      owner_id,
      robot_type: 'burst',
    })),
  }),
})

/** Writes facts as a process does whose hint is lost. */
const write = ({ platform }: World, domainEvents: readonly { name: string; payload: string }[]) =>
  platform.core.db.insertInto('outbox').values(domainEvents.slice()).execute()

const waiting = async ({ platform }: World) =>
  (await platform.core.db.selectFrom('outbox').select('id').execute()).length

test('a burst many times as large as what may be on its way to Redis reaches the other hub whole, and cuts nobody off', {
  timeout: 60_000,
}, async () => {
  await using world = await createWorld(hubless)
  const hubs = [await world.addNode('hub'), await world.addNode('hub')]
  const owner = await world.client()
  const sockets = await Promise.all(hubs.map(({ hubUrl }) => owner.hub({ url: hubUrl })))
  for (const socket of sockets) await socket.send('robots:watch')
  let disconnects = 0
  for (const { socket } of sockets) {
    socket.on('disconnect', () => {
      disconnects++
    })
  }
  const domainEvents = Array.from({ length: 8 }, () => burst(owner.id))
  await write(world, domainEvents)
  const sent = domainEvents.flatMap(({ payload }) =>
    JSON.parse(payload).robots.map((robot: { robot_id: string }) => robot.robot_id),
  )
  for (const socket of sockets) {
    await vi.waitFor(() => expect(socket.events.length).toBeGreaterThanOrEqual(sent.length), WAIT_OPTIONS)
    expect(socket.of('robot:status').map(({ robot_id }) => robot_id)).toEqual(sent)
  }
  expect(disconnects).toBe(0)
})

test('a Redis that takes nothing holds the relay up for a moment only: its own clients hear on', {
  timeout: 60_000,
}, async () => {
  await using world = await createWorld(hubless)
  await using redis = await createTcpProxy(inject('redisUrl'))
  const hub = await world.addNode('hub', { REDIS_URL: redis.url })
  const owner = await world.client()
  const socket = await owner.hub({ url: hub.hubUrl })
  await socket.send('robots:watch')
  redis.silence()
  const last = randomUUID()
  await write(world, [burst(owner.id), burst(owner.id), burst(owner.id, last)])
  const received = () => socket.of('robot:status').some(({ robot_id }) => robot_id === last)
  await vi.waitFor(() => expect(received()).toBe(true), WAIT_OPTIONS)
  redis.restore()
})

test('statuses of robots that a lost leader told too late are put right at every hub', {
  timeout: 60_000,
}, async () => {
  await using world = await createWorld(hubless)
  await using database = await createTcpProxy(world.database.url)
  await using redis = await createTcpProxy(inject('redisUrl'))
  const first = await world.addNode('hub', { DATABASE_URL: database.url, REDIS_URL: redis.url })
  const owner = await world.client()
  const robot = await world.robot(owner)
  await world.drained() // the first hub relays
  const second = await world.addNode('hub')

  const statuses: string[] = []
  const client = new HubClient({
    url: second.hubUrl,
    token: owner.token,
    reconnect: { baseMs: 5, maxMs: 50 },
  })
  try {
    await client.connect()
    await client.watchRobots((update) => {
      const robots = update.kind === 'list' ? update.robots : [update.robot]
      for (const { robot_id, status } of robots) if (robot_id === robot.id) statuses.push(status)
    })
    expect(statuses).toEqual(['OFFLINE'])

    // The first hub has told some of this when it loses Redis and the database.
    redis.silence()
    await write(world, [burst(owner.id, robot.id), burst(owner.id), burst(owner.id)])
    await vi.waitFor(async () => expect(await relayed(first)).toBeGreaterThan(0), WAIT_OPTIONS)
    database.silence()
    // What is newer comes from the second.
    ;(await world.connect(robot)).beat()
    await vi.waitFor(() => expect(statuses.at(-1)).toBe('AVAILABLE'), WAIT_OPTIONS)
    await vi.waitFor(async () => expect(await waiting(world)).toBe(0), WAIT_OPTIONS)
    const statusCount = statuses.length

    database.restore()
    redis.restore()
    await vi.waitFor(() => expect(statuses.slice(statusCount)).toContain('OFFLINE'), WAIT_OPTIONS)
    await vi.waitFor(() => expect(statuses.at(-1)).toBe('AVAILABLE'), WAIT_OPTIONS)
  } finally {
    client.close()
  }
})

/** How many facts a hub has told so far, as its metrics say. */
async function relayed({ hubUrl }: { hubUrl: string }): Promise<number> {
  const page = await (await fetch(`${hubUrl}/metrics`)).text()
  return Number(/^wheelhouse_outbox_relay_events_total (\d+)/m.exec(page)?.[1])
}
