import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import type { ControlFixture } from '../../support/gateway/control-fixture.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** The owner of robots, and a subscriber to their statuses. */
interface Fleet {
  readonly owner: TestUser
  readonly observer: TestHubSocket
}
async function createFleet(world: World): Promise<Fleet> {
  const owner = await world.client()
  const observer = await owner.hub()
  await observer.send('robots:watch')
  return { owner, observer }
}

/** Registers a robot, with functions that return how its owner sees it, and the statuses that a subscriber received, in order. */
async function watchedRobot(world: World, { owner, observer }: Fleet) {
  const robot = await world.robot(owner)
  return {
    robot,
    view: async () => (await owner.get(`/api/client/robots/${robot.id}`)).body,
    statuses: (): string[] =>
      observer
        .of('robot:status')
        .filter((event) => event.robot_id === robot.id)
        .map((event) => event.status),
  }
}

const urlOf = (robot: { id: string }, gatewayUrl: string) => `${gatewayUrl}/robots/${robot.id}/control`

const reaches = (read: () => unknown, expected: unknown) =>
  waitFor(async () => expect(await read()).toEqual(expected))

describe('connect and disconnect', () => {
  let world: World
  let other: Awaited<ReturnType<World['addNode']>>
  let fleet: Fleet
  beforeAll(async () => {
    // So long that no timeout occurs in these tests.
    const env = { HEARTBEAT_INTERVAL_MS: '1000', HEARTBEAT_TIMEOUT_MS: '60000' }
    world = await createWorld({ bus: 'redis', env })
    other = await world.addNode('gateway', env)
    fleet = await createFleet(world)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a robot is AVAILABLE after its welcome, before its first heartbeat', async () => {
    const { robot, view, statuses } = await watchedRobot(world, fleet)
    expect(await view()).toMatchObject({ status: 'OFFLINE', last_online: null, last_heartbeat: null })
    await world.connect(robot)
    expect(await view()).toMatchObject({ status: 'AVAILABLE', last_heartbeat: null })
    await reaches(statuses, ['AVAILABLE'])
  })

  test.each([
    ['closes its connection', (link: TestRobot) => link.close()],
    ['loses its connection', (link: TestRobot) => link.destroy()],
  ])('a robot that %s is OFFLINE immediately, without a timeout', async (_name, leave) => {
    const { robot, view, statuses } = await watchedRobot(world, fleet)
    const link = await world.connect(robot)
    await leave(link)
    await reaches(statuses, ['AVAILABLE', 'OFFLINE'])
    expect((await view()).status).toBe('OFFLINE')
  })

  test('subscribers receive every connect and the last disconnect of a robot that reconnects many times', async () => {
    const { robot, statuses } = await watchedRobot(world, fleet)
    const rounds = 10
    for (let n = 0; n < rounds; n++) await (await world.connect(robot)).close()
    // A reconnect may precede the persisted disconnect, so OFFLINE may be missing, except for the last one.
    await reaches(() => statuses().filter((status) => status === 'AVAILABLE').length, rounds)
    await reaches(() => statuses().at(-1), 'OFFLINE')
  })

  test('a robot that disconnects before its welcome does not remain AVAILABLE', async () => {
    const { robot, view } = await watchedRobot(world, fleet)
    for (let n = 0; n < 5; n++) {
      const link = new TestRobot(urlOf(robot, world.gatewayUrl), robot.token)
      link.socket.on('open', () => link.destroy())
      await link.closed
    }
    // The gateway admits the connections of a robot one after the other; this one is the last.
    const last = await world.connect(robot)
    await last.close()
    await reaches(async () => (await view()).status, 'OFFLINE')
  })

  test('last_online is the start of the connection, and after it the last sign of life', async () => {
    const { robot, view } = await watchedRobot(world, fleet)
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
    const { robot, view } = await watchedRobot(world, fleet)
    const link = await world.connect(robot)
    link.send({ type: 'heartbeat', seq: 1 })
    const { t } = await link.next('heartbeat_ack')
    link.destroy()
    await reaches(async () => (await view()).status, 'OFFLINE')
    expect(Date.parse((await view()).last_heartbeat)).toBe(t)
  })

  test('heartbeats are persisted', async () => {
    const { robot, view } = await watchedRobot(world, fleet)
    const link = await world.connect(robot)
    for (let seq = 0; seq < 2; seq++) {
      link.send({ type: 'heartbeat', seq })
      const { t } = await link.next('heartbeat_ack')
      await reaches(async () => Date.parse((await view()).last_heartbeat), t)
    }
  })

  test.each([
    ['of the same gateway', () => world.gatewayUrl],
    ['of another gateway', () => other.gatewayUrl],
  ])(
    'a second connection, %s, replaces the first, which is closed with 4000 and does not affect presence',
    async (_name, gatewayUrl) => {
      const { robot, view, statuses } = await watchedRobot(world, fleet)
      const first = (await world.connect(robot)).beat()
      const second = (await world.connect(robot, gatewayUrl())).beat()
      expect(await first.closed).toBe(4000)
      const third = (await world.connect(robot)).beat()
      expect(await second.closed).toBe(4000)
      await third.next('heartbeat_ack')
      await world.drained()
      expect((await view()).status).toBe('AVAILABLE')
      expect(statuses()).not.toContain('OFFLINE')
      await third.close()
      await reaches(async () => (await view()).status, 'OFFLINE')
    },
  )

  test('the end of an earlier connection that is recorded late never takes a newer one offline', async () => {
    const { robot, view } = await watchedRobot(world, fleet)
    const store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 1 })
    try {
      const [first, second] = [await world.connect(robot), await world.connect(robot, other.gatewayUrl)]
      expect(await first.closed).toBe(4000)
      await store.disconnect([{ robotId: robot.id, epoch: 1, lastSignMs: Date.now(), lastHeartbeatMs: 0 }])
      expect((await view()).status).toBe('AVAILABLE')
      await second.close()
      await waitFor(async () => expect((await view()).status).toBe('OFFLINE'))
    } finally {
      await store.close()
    }
  })

  test('exactly one of many concurrent connections remains', async () => {
    const { robot, view } = await watchedRobot(world, fleet)
    const count = 12
    const links = Array.from(
      { length: count },
      () => new TestRobot(urlOf(robot, world.gatewayUrl), robot.token),
    )
    const codes: number[] = []
    for (const link of links) link.closed.then((code) => codes.push(code))
    await reaches(() => codes, Array(count - 1).fill(4000))
    const [left] = links.filter((link) => link.socket.readyState === WebSocket.OPEN)
    expect((await left?.next('welcome'))?.epoch).toBe(count)
    left?.send({ type: 'heartbeat', seq: 1 })
    await left?.next('heartbeat_ack')
    expect((await view()).status).toBe('AVAILABLE')
    await left?.close()
  })

  test('the session continues at the other gateway', async () => {
    const { robot } = await watchedRobot(world, fleet)
    const operator = await world.operator()
    await world.connect(robot)
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    const link = new TestRobot(urlOf(robot, other.gatewayUrl), robot.token).beat()
    expect((await link.next('welcome')).session).toMatchObject({ session_id: sessionId, status: 'ACTIVE' })
    await fleet.owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect(await link.next('session')).toMatchObject({ status: 'PAUSED' })
    await link.next('stop')
    await fleet.owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await link.next('session')).toMatchObject({ status: 'COMPLETED' })
    await link.close()
  })

  test('a gateway that shuts down while robots connect leaves no robot connected', async () => {
    const gateway = await world.addNode('gateway')
    const robots = await Promise.all(Array.from({ length: 10 }, () => world.robot(fleet.owner)))
    const links = robots.map((robot) => new TestRobot(urlOf(robot, gateway.gatewayUrl), robot.token))
    for (const link of links) link.socket.on('open', () => link.send({ type: 'heartbeat' }))
    await Promise.race(links.map((link) => link.next('welcome')))
    await gateway.stop()
    const codes = await Promise.all(links.map((link) => link.closed))
    expect(codes.filter((code) => code !== 4503 && code !== 1006)).toEqual([])
    expect(codes).toContain(4503)
    const left = `select robot_id from robot_presence join robots on id = robot_id
      where robot_id = any($1) and (connected or status <> 'OFFLINE')`
    expect(await query(world.database.url, left, [robots.map(({ id }) => id)])).toEqual([])
  })
})

test('a silent robot is OFFLINE after the timeout and not before; others stay, also if their gateway stalls', async () => {
  const timeoutMs = 10_000
  const clock = stopWallClock()
  await using world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: String(timeoutMs) } })
  const fleet = await createFleet(world)
  const [silent, lively] = [await watchedRobot(world, fleet), await watchedRobot(world, fleet)]
  const [silentLink, livelyLink] = [await world.connect(silent.robot), await world.connect(lively.robot)]
  /** Looks for silent robots. The first round after a stall does not. */
  const findSilent = () => {
    for (let round = 0; round < 2; round++) world.platform.core.guards.gateway.runRound('timer:wheel')
  }
  const beat = async (link: TestRobot): Promise<number> => {
    link.send({ type: 'heartbeat' })
    return (await link.next('heartbeat_ack')).t
  }
  const signMs = await beat(silentLink)
  clock.advance(timeoutMs - 1)
  findSilent()
  await beat(livelyLink)
  expect(silentLink.socket.readyState).toBe(WebSocket.OPEN)
  expect((await silent.view()).status).toBe('AVAILABLE')

  clock.advance(50) // silence is noticed within a turn of the wheel
  findSilent()
  await silentLink.closed
  await reaches(silent.statuses, ['AVAILABLE', 'OFFLINE'])
  // last_online is the last sign of life, not the time of detection.
  expect(Date.parse((await silent.view()).last_online)).toBe(signMs)

  livelyLink.send({ type: 'heartbeat', seq: 7 })
  clock.advance(timeoutMs + 1) // the gateway reads the heartbeat after the stall
  await livelyLink.next('heartbeat_ack')
  findSilent()
  await beat(livelyLink)
  expect(lively.statuses()).toEqual(['AVAILABLE'])
})

describe('the timeout of a robot, on a simulated clock,', () => {
  const TIMEOUT_MS = 1_000
  const { open, robot } = simulateControl()
  let fixture: ControlFixture
  beforeEach(async () => {
    fixture = await open({ heartbeatTimeoutMs: TIMEOUT_MS, robotBeats: false })
  })

  test('ends its connection', async () => {
    const { socket } = robot()
    await fixture.pass(TIMEOUT_MS - 10)
    expect(socket.open).toBe(true)
    await fixture.pass(100)
    expect(socket.closed).toBe(1006)
    expect(fixture.book.isHere).toBe(false)
  })

  test.each([
    ['telemetry', { type: 'telemetry', data: 1 }],
    ['a binary frame', Uint8Array.of(2, ...new Uint8Array(15))],
    ['a frame of an unknown type', { type: 'from_the_future' }],
  ])('begins again with %s', async (_name, frame) => {
    const { socket } = robot()
    for (let atMs = 0; atMs < 3 * TIMEOUT_MS; atMs += 100) {
      socket.receiveFrame(frame)
      await fixture.pass(100)
    }
    expect(socket.open).toBe(true)
  })

  test('does not begin again with a pong of its library', async () => {
    const { socket } = robot()
    for (let atMs = 0; atMs < TIMEOUT_MS + 100; atMs += 100) {
      socket.pings = 1
      socket.pong()
      await fixture.pass(100)
    }
    expect(socket.closed).toBe(1006)
  })
})
