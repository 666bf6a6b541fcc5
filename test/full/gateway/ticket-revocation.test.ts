import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { TestDriver, type TestRobot } from '../../support/gateway/frame-socket.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { WAIT_LIMIT_MS } from '../../support/wait-limit.ts'
import { recovered } from '../../support/world/recovery.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

interface Issued {
  readonly url: string
  readonly ticket: string
}

async function ticketsFor(user: TestUser, sessionId: string, part: string, count: number, token?: string) {
  const issued: Issued[] = []
  for (let n = 0; n < count; n++) {
    const reply = await user.request('POST', `/api/sessions/${sessionId}/ticket`, { part }, token)
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    issued.push(reply.body)
  }
  return issued
}

/** Sends control as soon as the socket is open; returns the close code. */
async function driveWith({ url, ticket }: Issued): Promise<number> {
  const driver = new TestDriver(url, ticket)
  driver.socket.on('open', () => {
    const timer = setInterval(() => {
      if (driver.socket.readyState === driver.socket.OPEN) driver.control()
    }, 1)
    driver.closed.finally(() => clearInterval(timer))
    for (let n = 0; n < 50; n++) driver.control()
  })
  return await driver.closed
}

const upgrade = async ({ url, ticket }: Issued) =>
  (await attempt(url, { headers: { Authorization: `Bearer ${ticket}` } })).status

const controlOf = ({ frames }: TestRobot) => frames.filter(({ type }) => type === 'control')

/** Settles when all frames that were sent to a robot before have arrived. */
async function caughtUp(robot: TestRobot): Promise<void> {
  const seq = 1_000_000_000
  robot.send({ type: 'heartbeat', seq })
  await waitFor(() =>
    expect(robot.frames).toContainEqual(expect.objectContaining({ type: 'heartbeat_ack', seq })),
  )
}

const env = { OPERATOR_GRACE_MS: '60000', HEARTBEAT_TIMEOUT_MS: '30000' }
/** The second gateway's connection to Redis. */
let redis: TcpProxy
/** A platform with two gateways. */
let world: World
let second: Awaited<ReturnType<World['addNode']>>
beforeAll(async () => {
  redis = await createTcpProxy(serviceUrl('redisUrl'))
  world = await createWorld({ bus: 'redis', env })
  second = await world.addNode('gateway', { REDIS_URL: redis.url })
})
afterEach(() => redis.restore())
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

/** Opens two sessions: one at the first gateway, and one at the second gateway. */
async function sessionsAtBothGateways() {
  const here = await openSessionFixture(world)
  const operator = await world.operator()
  const robot = await world.robot(here.client)
  const link = (await world.connect(robot, second.gatewayUrl)).beat()
  const started = await operator.post('/api/sessions', { robotId: robot.id })
  const there = { id: started.body.sessionId as string, operator, link }
  return [{ ...here }, there]
}

describe.each([
  ['with hints', false],
  ['without hints', true],
])('tickets of a revoked API key, %s', (_name, unsubscribed) => {
  test('are refused at every gateway, and no control frame reaches a robot', async () => {
    const fixtures = await sessionsAtBothGateways()
    const keys = await Promise.all(fixtures.map(({ operator }) => operator.key()))
    const outstanding = await Promise.all(
      fixtures.map(({ operator, id }, at) => ticketsFor(operator, id, 'control', 20, keys[at]?.key)),
    )
    if (unsubscribed) redis.cut()
    for (const [at, { operator }] of fixtures.entries()) {
      const { id } = keys[at] as { id: string }
      expect((await operator.delete(`/api/auth/api-keys/${id}`)).status).toBe(204)
    }
    // Used at once, a ticket is refused at the upgrade, or its connection is closed before it is admitted.
    const early = outstanding.flatMap((issued) => issued.slice(0, 6))
    for (const code of await Promise.all(early.map(driveWith))) expect([1006, 4401]).toContain(code)
    // After a moment every ticket is refused at the upgrade.
    for (const unused of outstanding.map((issued) => issued.slice(6))) {
      // Each attempt uses a ticket up, so the attempts are rare.
      const options = { timeout: WAIT_LIMIT_MS, interval: 1_000 }
      await vi.waitFor(async () => expect(await upgrade(unused.pop() as Issued)).toBe(401), options)
    }
    for (const { link } of fixtures) {
      await caughtUp(link)
      expect(controlOf(link)).toEqual([])
    }
  })
})

describe('while the database is unavailable', () => {
  let database: TestDatabase
  let proxy: TcpProxy
  let fragile: World
  let unaffected: TestUser
  beforeAll(async () => {
    database = await createTestDatabase()
    proxy = await createTcpProxy(database.url)
    fragile = await createWorld({ env: { ...env, DATABASE_URL: proxy.url } })
    unaffected = await fragile.client()
  })
  afterEach(async () => {
    proxy.restore()
    await recovered(unaffected)
    fragile.errors.splice(0) // requests that met a connection from before the outage
  })
  afterAll(async () => {
    await fragile[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  })

  /** Opens a session that its owner observes, so that the gateway knows it, and issues a ticket for control. */
  async function watched() {
    const fixture = await openSessionFixture(fragile)
    const observer = await fragile.drive(fixture.client, fixture.id, 'watch')
    await observer.state()
    const [issued] = await ticketsFor(fixture.operator, fixture.id, 'control', 1)
    return { ...fixture, observer, issued: issued as Issued }
  }

  test('a ticket is not accepted, admitted operators continue, and a fresh ticket is accepted afterwards', async () => {
    const [driven, { issued, link, operator, id }] = [await openSessionFixture(fragile), await watched()]
    const console = await fragile.drive(driven.operator, driven.id)
    await console.state()
    proxy.cut()
    expect(await driveWith(issued)).toBe(4503)
    console.control({ continued: true })
    expect(await driven.link.next('control')).toMatchObject({ data: { continued: true } })
    await caughtUp(link)
    expect(controlOf(link)).toEqual([])
    proxy.restore()
    await waitFor(async () => expect((await operator.get(`/api/sessions/${id}`)).status).toBe(200))
    const again = await fragile.drive(operator, id)
    await again.state()
    again.control()
    await link.next('control')
  })

  test.each<[string, 'cut' | 'silence']>([
    ['refuses connections', 'cut'],
    ['does not answer', 'silence'],
  ])('and %s: a stop of a ticket holder halts the robot', async (_name, fault) => {
    const { issued, link, observer } = await watched()
    proxy[fault]()
    const driver = new TestDriver(issued.url, issued.ticket)
    driver.socket.on('open', () => driver.send({ type: 'stop', reason: 'fire' }))
    expect(await link.next('stop')).toMatchObject({ reason: 'fire', latched: true })
    proxy.restore()
    const { stop } = await observer.state((state) => state.stop?.recorded)
    expect(stop.reason).toBe('fire')
    await driver.close()
  })
})
