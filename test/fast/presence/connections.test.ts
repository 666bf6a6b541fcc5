import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Short enough to wait for, long enough for a busy machine. */
const TIMEOUT_MS = 4_000

async function watchedRobot(world: World) {
  const owner = await world.client()
  const robot = await world.robot(owner)
  const observer = await owner.hub()
  await observer.send('robots:watch')
  const view = async () => (await owner.get(`/api/client/robots/${robot.id}`)).body
  return { owner, robot, observer, view, statuses: () => statusesOf(observer, robot.id) }
}

/** Returns the statuses of a robot that a subscriber received, in order. */
const statusesOf = (observer: TestHubSocket, robotId: string): string[] =>
  observer
    .of('robot:status')
    .filter((event) => event.robot_id === robotId)
    .map((event) => event.status)

const urlOf = (world: World, robot: { id: string }, gateway = world.gatewayUrl) =>
  `${gateway}/robots/${robot.id}/control`

const reaches = (read: () => unknown, expected: unknown) =>
  waitFor(async () => expect(await read()).toEqual(expected))

describe('connect and disconnect', () => {
  // So long that no timeout occurs in these tests.
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { HEARTBEAT_INTERVAL_MS: '1000', HEARTBEAT_TIMEOUT_MS: '60000' } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a robot is AVAILABLE after its welcome, before its first heartbeat', async () => {
    const { robot, view, statuses } = await watchedRobot(world)
    expect(await view()).toMatchObject({ status: 'OFFLINE', last_online: null, last_heartbeat: null })
    await world.connect(robot)
    expect(await view()).toMatchObject({ status: 'AVAILABLE', last_heartbeat: null })
    await reaches(statuses, ['AVAILABLE'])
  })

  test.each([
    ['closes its connection', (link: TestRobot) => link.close()],
    ['loses its connection', (link: TestRobot) => link.destroy()],
  ])('a robot that %s is OFFLINE immediately, without a timeout', async (_name, leave) => {
    const { robot, view, statuses } = await watchedRobot(world)
    const link = await world.connect(robot)
    await leave(link)
    await reaches(statuses, ['AVAILABLE', 'OFFLINE'])
    expect((await view()).status).toBe('OFFLINE')
  })

  test('subscribers receive every connect and the last disconnect of a robot that reconnects many times', async () => {
    const { robot, statuses } = await watchedRobot(world)
    const rounds = 10
    for (let n = 0; n < rounds; n++) await (await world.connect(robot)).close()
    // A reconnect may precede the persisted disconnect, so OFFLINE may be missing, except for the last one.
    await reaches(() => statuses().filter((status) => status === 'AVAILABLE').length, rounds)
    await reaches(() => statuses().at(-1), 'OFFLINE')
  })

  test('a robot that disconnects before its welcome does not remain AVAILABLE', async () => {
    const { robot, view } = await watchedRobot(world)
    for (let n = 0; n < 5; n++) {
      const link = new TestRobot(urlOf(world, robot), robot.token)
      link.socket.on('open', () => link.destroy())
      await link.closed
    }
    // The gateway admits the connections of a robot one after the other; this one is the last.
    const last = await world.connect(robot)
    await last.close()
    await reaches(async () => (await view()).status, 'OFFLINE')
  })

  test('last_online is the start of the connection, and after it the last sign of life', async () => {
    const { robot, view } = await watchedRobot(world)
    const beforeMs = Date.now()
    const link = await world.connect(robot)
    const afterMs = Date.now()
    const started = (await view()).last_online as string
    expect(Date.parse(started)).toBeGreaterThanOrEqual(beforeMs - 1)
    expect(Date.parse(started)).toBeLessThanOrEqual(afterMs + 1)

    link.send({ type: 'heartbeat', seq: 1 })
    await link.next('heartbeat_ack')
    expect((await view()).last_online).toBe(started)

    const signMs = Date.now()
    link.send({ type: 'telemetry', data: 1 })
    link.send({ type: 'heartbeat', seq: 2 })
    await link.next('heartbeat_ack')
    const signedMs = Date.now()
    await link.close()
    await reaches(async () => (await view()).status, 'OFFLINE')
    const left = await view()
    expect(Date.parse(left.last_online)).toBeGreaterThanOrEqual(signMs - 1)
    expect(Date.parse(left.last_online)).toBeLessThanOrEqual(signedMs + 1)
    expect(Date.parse(left.last_heartbeat)).toBeLessThanOrEqual(Date.parse(left.last_online))
  })

  test('the last heartbeat of a connection is never lost, however soon it ends', async () => {
    const { robot, view } = await watchedRobot(world)
    const link = await world.connect(robot)
    link.send({ type: 'heartbeat', seq: 1 })
    const { t } = await link.next('heartbeat_ack')
    link.destroy()
    await reaches(async () => (await view()).status, 'OFFLINE')
    expect(Date.parse((await view()).last_heartbeat)).toBe(t)
  })

  test('heartbeats are persisted', async () => {
    const { robot, view } = await watchedRobot(world)
    const link = await world.connect(robot)
    for (let seq = 0; seq < 2; seq++) {
      link.send({ type: 'heartbeat', seq })
      const { t } = await link.next('heartbeat_ack')
      await reaches(async () => Date.parse((await view()).last_heartbeat), t)
    }
  })

  test('a second connection replaces the first, which is closed with 4000 and does not affect presence', async () => {
    const { robot, view, statuses } = await watchedRobot(world)
    const first = await world.connect(robot)
    const second = await world.connect(robot)
    expect(await first.closed).toBe(4000)
    second.send({ type: 'heartbeat', seq: 1 })
    await second.next('heartbeat_ack')
    await world.drained()
    expect((await view()).status).toBe('AVAILABLE')
    expect(statuses()).not.toContain('OFFLINE')
    await second.close()
    await reaches(async () => (await view()).status, 'OFFLINE')
  })

  test('exactly one of many concurrent connections remains', async () => {
    const { robot, view } = await watchedRobot(world)
    const links = Array.from({ length: 20 }, () => new TestRobot(urlOf(world, robot), robot.token))
    const codes: number[] = []
    for (const link of links) link.closed.then((code) => codes.push(code))
    await reaches(() => codes, Array(19).fill(4000))
    const [left] = links.filter((link) => link.socket.readyState === WebSocket.OPEN)
    expect((await left?.next('welcome'))?.epoch).toBe(20)
    left?.send({ type: 'heartbeat', seq: 1 })
    await left?.next('heartbeat_ack')
    expect((await view()).status).toBe('AVAILABLE')
    await left?.close()
  })
})

describe('silence', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: String(TIMEOUT_MS) } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a silent robot is OFFLINE after the timeout and not before', async () => {
    const { robot, observer, view } = await watchedRobot(world)
    const link = await world.connect(robot)
    await observer.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })
    for (let seq = 0; seq < 3; seq++) {
      link.send({ type: 'heartbeat', seq })
      await link.next('heartbeat_ack')
    }
    const lastSignMs = Date.now()
    link.send({ type: 'heartbeat', seq: 3 })
    const { t } = await link.next('heartbeat_ack')
    await observer.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
    const silenceMs = Date.now() - lastSignMs
    expect(silenceMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 1)
    await link.closed
    // last_online is the last sign of life, not the time of detection.
    expect(Date.parse((await view()).last_online)).toBe(t)
  })

  test('any data frame keeps a robot connected; pings and pongs of its library do not', async () => {
    const owner = await world.client()
    const sendFrame: Record<string, (link: TestRobot) => void> = {
      telemetry: (link) => link.send({ type: 'telemetry', data: 1 }),
      binary: (link) => link.send(Buffer.concat([Buffer.from([2]), Buffer.alloc(15)])),
      unknown: (link) => link.send({ type: 'from_the_future' }),
      pong: (link) => link.socket.pong(),
      ping: (link) => link.socket.ping(),
    }
    const links: Record<string, TestRobot> = {}
    for (const name of Object.keys(sendFrame)) links[name] = await world.connect(await world.robot(owner))
    const timer = setInterval(() => {
      for (const [name, link] of Object.entries(links)) {
        if (link.socket.readyState === WebSocket.OPEN) sendFrame[name]?.(link)
      }
    }, 100)
    try {
      await Promise.all([links.ping?.closed, links.pong?.closed])
      // Waits for the same time again, measured by another silent robot.
      await (await world.connect(await world.robot(owner))).closed
      const open = Object.keys(links).filter((name) => links[name]?.socket.readyState === WebSocket.OPEN)
      expect(open).toEqual(['telemetry', 'binary', 'unknown'])
    } finally {
      clearInterval(timer)
    }
  })

  test('a gateway whose event loop was blocked does not time out its robots', async () => {
    const timeoutMs = 2_000
    await using blocked = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: String(timeoutMs) } })
    const { robot, view } = await watchedRobot(blocked)
    const link = await blocked.connect(robot)
    // The event loop is blocked for longer than the timeout, while the robot continues to send heartbeats.
    // The block is right before the timers phase, which is the worst case.
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        const until = performance.now() + timeoutMs + 500
        for (let next = 0; performance.now() < until; ) {
          if (performance.now() < next) continue
          next = performance.now() + 100
          link.send({ type: 'heartbeat' })
        }
        resolve()
      })
    })
    await link.next('heartbeat_ack')
    expect(link.socket.readyState).toBe(WebSocket.OPEN)
    expect((await view()).status).toBe('AVAILABLE')
  })
})

test('hundreds of robots that connect and disconnect together are all handled', async () => {
  const count = 300
  await using world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '120000' } })
  const owner: TestUser = await world.client()
  const observer = await owner.hub()
  await observer.send('robots:watch')
  const robots: Awaited<ReturnType<World['robot']>>[] = []
  // One after another: the registrations are not what is tested, and a busy platform refuses many at once.
  while (robots.length < count) robots.push(await world.robot(owner))
  const seen = (status: string) =>
    new Set(
      observer
        .of('robot:status')
        .filter((event) => event.status === status)
        .map((event) => event.robot_id),
    ).size

  const links = await Promise.all(robots.map((robot) => world.connect(robot)))
  await reaches(() => seen('AVAILABLE'), count)
  for (const link of links) link.send({ type: 'heartbeat', seq: 1 })
  await Promise.all(links.map((link) => link.next('heartbeat_ack')))
  for (const link of links) link.destroy()
  await reaches(() => seen('OFFLINE'), count)
  expect(observer.of('robot:status')).toHaveLength(2 * count)

  // Half of the robots connect while the other half disconnects.
  const firstHalf = robots.slice(0, count / 2)
  const secondHalf = robots.slice(count / 2)
  const staying = await Promise.all(firstHalf.map((robot) => world.connect(robot)))
  for (const link of staying) link.destroy()
  await Promise.all(secondHalf.map((robot) => world.connect(robot)))
  await reaches(
    async () =>
      await query(world.database.url, `select status, count(*)::int as n from robots group by 1 order by 1`),
    [
      { status: 'AVAILABLE', n: secondHalf.length },
      { status: 'OFFLINE', n: firstHalf.length },
    ],
  )
  expect(
    await query(world.database.url, 'select count(*)::int as n from robot_presence where connected'),
  ).toEqual([{ n: secondHalf.length }])
})

test('a gateway that shuts down while robots connect leaves no robot connected', async () => {
  await using world = await createWorld({ bus: 'redis' })
  const gateway = await world.addNode('gateway')
  const owner = await world.client()
  const robots = await Promise.all(Array.from({ length: 40 }, () => world.robot(owner)))
  const links = robots.map((robot) => new TestRobot(urlOf(world, robot, gateway.gatewayUrl), robot.token))
  for (const link of links) link.socket.on('open', () => link.send({ type: 'heartbeat' }))
  await Promise.race(links.map((link) => link.next('welcome')))
  await gateway.stop()
  const codes = await Promise.all(links.map((link) => link.closed))
  expect(codes.filter((code) => code !== 4503 && code !== 1006)).toEqual([])
  expect(codes).toContain(4503)
  expect(await query(world.database.url, 'select robot_id from robot_presence where connected')).toEqual([])
  expect(await query(world.database.url, `select id from robots where status <> 'OFFLINE'`)).toEqual([])
})

describe('two gateways', () => {
  test('a robot that connects to the other gateway is taken over, and its old socket is closed with 4000', async () => {
    await using world = await createWorld({ bus: 'redis' })
    const other = await world.addNode('gateway')
    const { robot, view, statuses } = await watchedRobot(world)
    const first = (await world.connect(robot)).beat()
    const second = (await world.connect(robot, other.gatewayUrl)).beat()
    expect(await first.closed).toBe(4000)
    await world.drained()
    expect((await view()).status).toBe('AVAILABLE')

    const third = (await world.connect(robot)).beat()
    expect(await second.closed).toBe(4000)
    await third.next('heartbeat_ack')
    await world.drained()
    expect((await view()).status).toBe('AVAILABLE')
    expect(statuses()).not.toContain('OFFLINE')
  })

  test('the session continues at the other gateway', async () => {
    await using world = await createWorld({ bus: 'redis' })
    const other = await world.addNode('gateway')
    const owner = await world.client()
    const operator = await world.operator()
    const robot = await world.robot(owner)
    await world.connect(robot)
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    const link = new TestRobot(urlOf(world, robot, other.gatewayUrl), robot.token).beat()
    expect((await link.next('welcome')).session).toMatchObject({ session_id: sessionId, status: 'ACTIVE' })
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect(await link.next('session')).toMatchObject({ status: 'PAUSED' })
    await link.next('stop')
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await link.next('session')).toMatchObject({ status: 'COMPLETED' })
    await link.close()
  })
})
