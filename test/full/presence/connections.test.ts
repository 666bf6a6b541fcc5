import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Short enough to wait for, long enough for a busy machine. */
const TIMEOUT_MS = 4_000

const reaches = (read: () => unknown, expected: unknown) =>
  waitFor(async () => expect(await read()).toEqual(expected))

describe('silence', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: String(TIMEOUT_MS) } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

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
    const owner = await blocked.client()
    const robot = await blocked.robot(owner)
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
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('AVAILABLE')
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
  const links = robots.map(
    (robot) => new TestRobot(`${gateway.gatewayUrl}/robots/${robot.id}/control`, robot.token),
  )
  for (const link of links) link.socket.on('open', () => link.send({ type: 'heartbeat' }))
  await Promise.race(links.map((link) => link.next('welcome')))
  await gateway.stop()
  const codes = await Promise.all(links.map((link) => link.closed))
  expect(codes.filter((code) => code !== 4503 && code !== 1006)).toEqual([])
  expect(codes).toContain(4503)
  expect(await query(world.database.url, 'select robot_id from robot_presence where connected')).toEqual([])
  expect(await query(world.database.url, `select id from robots where status <> 'OFFLINE'`)).toEqual([])
})
