import { describe, expect, type TestContext, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { TestDriver } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { openSessionFixture, performAction, tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const grace = { OPERATOR_GRACE_MS: '60000', HEARTBEAT_TIMEOUT_MS: '30000' }

/** Creates a platform whose database is behind a proxy. */
async function createWorldBehindProxy(options: WorldOptions = {}) {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  const world = await createWorld({ ...options, env: { ...grace, ...options.env, DATABASE_URL: proxy.url } })
  return {
    world,
    proxy,
    ask: (sql: string, values?: unknown[]) => query(database.url, sql, values),
    async [Symbol.asyncDispose]() {
      proxy.restore()
      // Requests that met a connection from before the outage.
      const others = world.errors.filter((line) => JSON.parse(line).status !== 503)
      world.errors.splice(0, world.errors.length, ...others)
      await world[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

/** Opens a session at a gateway, with its operator and its owner connected. */
async function controlledFixture(world: World, gatewayUrl = world.gatewayUrl) {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  await tolerateLatency(world, robot.id)
  const link = (await world.connect(robot, gatewayUrl)).beat()
  const reply = await operator.post('/api/sessions', { robotId: robot.id })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const id = reply.body.sessionId as string
  await link.next('session')
  const console = await world.drive(operator, id)
  const observer = await world.drive(client, id, 'watch')
  await console.state()
  await observer.state()
  return { client, operator, robot, link, id, console, observer }
}

const stopsIn = async (user: TestUser, id: string) =>
  (await user.get(`/api/sessions/${id}/events?limit=200`)).body.events.filter(
    ({ type }: { type: string }) => type === 'session.stopped',
  )

// One at a time: the more platforms compute at once, the longer their queries take, and those have limits.
describe('PostgreSQL', () => {
  test.each<[string, (proxy: TcpProxy) => void]>([
    ['refuses connections', (proxy) => proxy.cut()],
    ['does not answer', (proxy) => proxy.silence()],
  ])(
    '%s: control, deadman and stop continue to work; the stop is recorded once afterwards',
    async (_name, injectFault) => {
      await using fixture = await createWorldBehindProxy({ env: { HEARTBEAT_TIMEOUT_MS: '30000' } })
      const { world, proxy } = fixture
      const { client, operator, link, id, console, observer } = await controlledFixture(world)
      console.control()
      await link.next('control')
      await link.next('stop')

      injectFault(proxy)
      for (let n = 0; n < 3; n++) {
        const seq = console.control({ n })
        expect(await link.next('control')).toMatchObject({ seq, data: { n } })
        expect((await link.next('stop')).reason).toBe('deadman')
      }
      console.control()
      await link.next('control')
      observer.send({ type: 'stop', reason: 'water' })
      const water = { type: 'stop', reason: 'water', latched: true }
      await waitFor(async () => expect(await link.next('stop')).toEqual(water)) // on a slow machine after the deadman's
      for (const user of [console, observer]) {
        const { stop } = await user.state(({ stop }) => stop?.latched)
        const byOwner = { by_role: 'client', clearable_by: 'owner' }
        expect(stop).toEqual({ reason: 'water', latched: true, recorded: false, ...byOwner })
      }
      const seq = console.control()
      expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })
      // The gateway retries, and the operator requests the stop again.
      await waitFor(() => expect(link.frames.filter(({ latched }) => latched).length).toBeGreaterThan(1))
      console.send({ type: 'stop', reason: 'fire' })

      proxy.restore()
      const paused = await observer.state(({ status, stop }) => stop?.recorded && status === 'PAUSED')
      expect(paused.stop).toMatchObject({ reason: 'water', latched: true, recorded: true })
      link.send({ type: 'stopped', reason: 'water' })
      const stops = await stopsIn(client, id)
      expect(stops).toMatchObject([{ data: { reason: 'water', actor_id: client.id } }])
      // Long enough for a poll and a retry.
      for (let n = 0; n < 3; n++) await observer.next('latency')
      await waitFor(async () => expect((await operator.get(`/api/sessions/${id}`)).status).toBe(200))
      await performAction(client, id, 'clear_stop')
      await performAction(operator, id, 'resume')
      await console.state(({ status, stop }) => status === 'ACTIVE' && stop === null)
      console.control()
      await link.next('control')
      expect(await stopsIn(client, id)).toHaveLength(1)
    },
  )

  test('returns after the requester of a stop has left: the stop is recorded', async () => {
    await using fixture = await createWorldBehindProxy()
    const { client, link, id, console, observer } = await controlledFixture(fixture.world)
    fixture.proxy.cut()
    console.send({ type: 'stop', reason: 'then disconnected' })
    expect(await link.next('stop')).toMatchObject({ reason: 'then disconnected', latched: true })
    await observer.state(({ stop }) => stop?.latched)
    for (const user of [console, observer]) user.destroy()
    link.destroy()
    fixture.proxy.restore()
    await waitFor(async () => expect(await stopsIn(client, id)).toHaveLength(1))
  })

  test('is unavailable when an operator is lost: the session pauses once it is back', async () => {
    await using fixture = await createWorldBehindProxy({
      env: { OPERATOR_GRACE_MS: '500', DEADMAN_MS: '60000' },
    })
    const { world, proxy } = fixture
    const { client, operator, id, link } = await openSessionFixture(world)
    await link.next('session')
    const console = await world.drive(operator, id)
    await console.state()
    proxy.cut()
    console.control()
    await link.next('control')
    console.destroy()
    expect((await link.next('stop')).reason).toBe('operator_lost')
    proxy.restore()
    await waitFor(async () => {
      const { status, pause_reason: reason } = (await client.get(`/api/sessions/${id}`)).body
      expect({ status, reason }).toEqual({ status: 'PAUSED', reason: 'operator_lost' })
    })
  })
})

describe.concurrent('Redis is unavailable', () => {
  async function createGatewayBehindProxy(context: TestContext) {
    const redis = await createTcpProxy(serviceUrl('redisUrl'))
    const world = await createWorld({ bus: 'redis', env: grace })
    context.onTestFinished(async () => {
      redis.restore()
      await world[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    return { world, redis, gatewayUrl }
  }

  test('a stop of the API is found by polling, a stop of a socket applies at once, and control continues', async (context) => {
    const { world, redis, gatewayUrl } = await createGatewayBehindProxy(context)
    const { client, operator, link, id, console, observer } = await controlledFixture(world, gatewayUrl)
    redis.cut()
    console.control()
    await link.next('control')
    observer.send({ type: 'stop', reason: 'requested' })
    const requested = { reason: 'requested', latched: true }
    await waitFor(async () => expect(await link.next('stop')).toMatchObject(requested)) // on a slow machine after the deadman's
    await console.state(({ stop, status }) => stop?.recorded && status === 'PAUSED')
    link.send({ type: 'stopped', reason: 'requested' })

    await performAction(client, id, 'clear_stop')
    await link.next('stop_cleared')
    await performAction(operator, id, 'resume')
    await console.state(({ status }) => status === 'ACTIVE')
    console.control()
    await link.next('control')
    await performAction(client, id, 'emergency_stop', 'requested by the API')
    await waitFor(async () =>
      expect(await link.next('stop')).toMatchObject({ reason: 'requested by the API' }),
    )
    const seq = console.control()
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })
    expect(await stopsIn(client, id)).toHaveLength(2)
  })

  test('sockets of a revoked key are closed', async (context) => {
    const { world, redis, gatewayUrl } = await createGatewayBehindProxy(context)
    const { operator, id, link } = await controlledFixture(world, gatewayUrl)
    const key = await operator.key()
    const issued = await operator.request('POST', `/api/sessions/${id}/ticket`, { part: 'control' }, key.key)
    const console = new TestDriver(issued.body.url, issued.body.ticket)
    await console.state()
    console.control()
    await link.next('control')
    redis.cut()
    expect((await operator.delete(`/api/auth/api-keys/${key.id}`)).status).toBe(204)
    expect(await console.closed).toBe(4401)
    expect((await link.next('stop')).reason).toMatch(/operator_lost|deadman/)
  })
})

describe('a robot that connects to another gateway', () => {
  test.each([
    ['with hints', false],
    ['without hints', true],
  ])('%s: its participants reconnect there and continue', async (_name, unsubscribed) => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env: grace })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    const { client, operator, robot, link, id, console, observer } = await controlledFixture(
      world,
      gatewayUrl,
    )
    console.control()
    await link.next('control')
    if (unsubscribed) redis.cut()

    const transferred = (await world.connect(robot)).beat()
    expect(await link.closed).toBe(4000)
    expect(await console.closed).toBe(4009)
    expect(await observer.closed).toBe(4009)
    const { url } = (await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })).body
    expect(url).toBe(`${world.gatewayUrl}/sessions/${id}/control`)
    const [again, observerConnection] = [
      await world.drive(operator, id),
      await world.drive(client, id, 'watch'),
    ]
    expect(await again.state()).toMatchObject({ status: 'ACTIVE', robot_connected: true, stop: null })
    again.control()
    await transferred.next('control')
    await observerConnection.state()
    observerConnection.send({ type: 'stop', reason: 'here too' })
    await waitFor(async () => expect(await transferred.next('stop')).toMatchObject({ latched: true })) // after the deadman's
    redis.restore()
    await again.state(({ stop }) => stop?.recorded)
    await transferred.close()
  })

  test('receives a stop that is requested at its previous gateway', async () => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env: grace })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    const { client, robot, id, console } = await controlledFixture(world, gatewayUrl)
    redis.cut() // the previous gateway learns by polling that it has lost the robot
    const transferred = (await world.connect(robot)).beat()
    console.send({ type: 'stop', reason: 'late' })
    expect(await transferred.next('stop')).toMatchObject({ reason: 'late', latched: true })
    expect(await stopsIn(client, id)).toHaveLength(1)
    redis.restore()
    await transferred.close()
  })
})

test('a gateway that shuts down halts its robots first, and their sessions continue at another gateway', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ...grace, DEADMAN_MS: '60000' } })
  const node = await world.addNode('gateway')
  const { client, robot, operator, link, id, console, observer } = await controlledFixture(
    world,
    node.gatewayUrl,
  )
  const notified: string[] = []
  link.socket.on('message', (data: Buffer) =>
    notified.push(JSON.parse(String(data)).reason ?? JSON.parse(String(data)).type),
  )
  const driving = setInterval(() => {
    if (console.socket.readyState === console.socket.OPEN) console.control()
  }, 20)
  await link.next('control')
  await node.stop()
  clearInterval(driving)
  for (const item of [link, console, observer]) expect(await item.closed).toBe(4503)
  expect(notified.filter((what) => what !== 'heartbeat_ack').at(-1)).toBe('gateway_draining')

  // No ticket leads to the previous gateway, and the session continues.
  expect((await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })).status).toBe(409)
  const back = (await world.connect(robot)).beat()
  const again = await world.drive(operator, id)
  await again.state(({ status }) => status === 'ACTIVE')
  again.control()
  await back.next('control')
  const log = (await client.get(`/api/sessions/${id}/events`)).body.events
  expect(log.map(({ type }: { type: string }) => type)).toEqual(['session.started'])
  await waitFor(async () => {
    expect(await query(world.database.url, 'select id from gateway_nodes where draining')).toEqual([])
  })
  await back.close()
})

test('a robot that does not reconnect after its gateway has drained is lost after the grace period', async () => {
  await using world = await createWorld({
    bus: 'redis',
    env: { OPERATOR_GRACE_MS: '1500', HEARTBEAT_TIMEOUT_MS: '3000' },
  })
  const node = await world.addNode('gateway')
  const { client, link, id } = await controlledFixture(world, node.gatewayUrl)
  await node.stop()
  expect(await link.closed).toBe(4503)
  expect((await client.get(`/api/sessions/${id}`)).body.status).toBe('ACTIVE')
  await waitFor(async () => {
    const { status, pause_reason: reason } = (await client.get(`/api/sessions/${id}`)).body
    expect({ status, reason }).toEqual({ status: 'PAUSED', reason: 'robot_lost' })
  })
})
