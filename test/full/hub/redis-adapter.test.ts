import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { relayLeader } from '../../support/database/relay-leader.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** The largest event that one statement of a gateway causes. */
const ROBOTS_PER_EVENT = 2_000

const hubless = { bus: 'redis', env: { ROLES: 'api,gateway,worker' } } as const

/** Returns an event about many unknown robots, with `robotId` as the last one. */
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

/** Writes domain events like a process whose hint is lost. */
const write = ({ platform }: World, domainEvents: readonly { name: string; payload: string }[]) =>
  platform.core.db.insertInto('outbox').values(domainEvents.slice()).execute()

const pendingEvents = async ({ platform }: World) =>
  (await platform.core.db.selectFrom('outbox').select('id').execute()).length

/** Measures the longest answer of a Redis, in milliseconds. A busy machine delays all answers. */
function watchAnswers(url: string) {
  const redis = new Redis(url)
  let longestMs = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      const startedMs = performance.now()
      await redis.ping()
      longestMs = Math.max(longestMs, performance.now() - startedMs)
    }
    await redis.quit()
  })()
  return {
    get longestMs() {
      return longestMs
    },
    async [Symbol.asyncDispose]() {
      done = true
      await watching
    },
  }
}

test('a burst that exceeds the messages in flight to Redis reaches the other hub completely, and closes no client', async () => {
  await using world = await createWorld(hubless)
  const hubs = [await world.addNode('hub'), await world.addNode('hub')]
  const owner = await world.client()
  const sockets = await Promise.all(hubs.map(({ hubUrl }) => owner.hub({ url: hubUrl })))
  for (const socket of sockets) await socket.send('robots:watch')
  const leader = await waitFor(
    async () => (await relayLeader(world.database.url)) ?? Promise.reject(new Error('no leader')),
  )
  const cut = new Set<TestHubSocket>()
  for (const socket of sockets) socket.socket.on('disconnect', () => cut.add(socket))
  const domainEvents = Array.from({ length: 8 }, () => burst(owner.id))
  await using answers = watchAnswers(serviceUrl('redisUrl'))
  await write(world, domainEvents)
  const sent = domainEvents.flatMap(({ payload }) =>
    JSON.parse(payload).robots.map((robot: { robot_id: string }) => robot.robot_id),
  )
  // A busy Redis may get an event twice.
  const received = (socket: TestHubSocket) => [
    ...new Set(socket.of('robot:status').map(({ robot_id }) => robot_id)),
  ]
  for (const socket of sockets) {
    await waitFor(() => expect(cut.has(socket) || received(socket).length >= sent.length).toBe(true))
    if (cut.has(socket)) continue
    expect(received(socket)).toEqual(sent)
  }
  // Hubs give a Redis up that accepts nothing for two seconds, and a busy machine may end the leadership of a hub that is silent for
  // a second. Only then a client may be closed.
  const isSameLeader = (await relayLeader(world.database.url)) === leader
  if (answers.longestMs < 1_000 && isSameLeader) expect(cut.size).toBe(0)
})

test('a Redis that accepts nothing delays the outbox relay for a moment only: local clients receive events', async () => {
  await using world = await createWorld(hubless)
  await using redis = await createTcpProxy(serviceUrl('redisUrl'))
  const hub = await world.addNode('hub', { REDIS_URL: redis.url })
  const owner = await world.client()
  const socket = await owner.hub({ url: hub.hubUrl })
  await socket.send('robots:watch')
  redis.silence()
  const last = randomUUID()
  await write(world, [burst(owner.id), burst(owner.id), burst(owner.id, last)])
  const received = () => socket.of('robot:status').some(({ robot_id }) => robot_id === last)
  await waitFor(() => expect(received()).toBe(true))
  redis.restore()
})

test('clients of every hub correct the robot statuses that a former leader published too late', async () => {
  await using world = await createWorld(hubless)
  await using database = await createTcpProxy(world.database.url)
  await using redis = await createTcpProxy(serviceUrl('redisUrl'))
  const first = await world.addNode('hub', { DATABASE_URL: database.url, REDIS_URL: redis.url })
  const owner = await world.client()
  const robot = await world.robot(owner)
  await world.drained() // the first hub is the leader of the outbox relay
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

    // The first hub has published some of this when it loses Redis and the database.
    redis.silence()
    await write(world, [burst(owner.id, robot.id), burst(owner.id), burst(owner.id)])
    await waitFor(async () => expect(await relayed(first)).toBeGreaterThan(0))
    database.silence()
    // The second hub publishes newer statuses.
    ;(await world.connect(robot)).beat()
    await waitFor(() => expect(statuses.at(-1)).toBe('AVAILABLE'))
    await waitFor(async () => expect(await pendingEvents(world)).toBe(0))
    const statusCount = statuses.length

    database.restore()
    redis.restore()
    await waitFor(() => expect(statuses.slice(statusCount)).toContain('OFFLINE'))
    await waitFor(() => expect(statuses.at(-1)).toBe('AVAILABLE'))
  } finally {
    client.close()
  }
})

/** Returns the number of domain events that a hub has published, according to its metrics. */
async function relayed({ hubUrl }: { hubUrl: string }): Promise<number> {
  const page = await (await fetch(`${hubUrl}/metrics`)).text()
  return Number(/^wheelhouse_outbox_relay_events_total (\d+)/m.exec(page)?.[1])
}
