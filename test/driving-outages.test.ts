import { describe, expect, inject, type TestContext, test, vi } from 'vitest'
import { act, openScene } from './support/cast.ts'
import { createTestDatabase } from './support/database.ts'
import { TestDriver } from './support/frame-socket.ts'
import type { Person } from './support/person.ts'
import { query } from './support/processes.ts'
import { createTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World, type WorldOptions } from './support/world.ts'

const patience = { timeout: 15_000, interval: 20 }
const grace = { OPERATOR_GRACE_MS: '60000' }

/** A platform whose database is behind a proxy. */
async function createWorldBehindProxy(options: WorldOptions = {}) {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  const world = await createWorld({ ...options, env: { ...grace, ...options.env, DATABASE_URL: proxy.url } })
  return {
    ...{ world, proxy },
    ask: (sql: string, values?: unknown[]) => query(database.url, sql, values),
    async [Symbol.asyncDispose]() {
      proxy.heal()
      await world[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    },
  }
}

/** A session at a gateway, driven by its operator and watched by its owner. */
async function drivenScene(world: World, gatewayUrl = world.gatewayUrl) {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  const link = (await world.connect(robot, gatewayUrl)).beat()
  const reply = await operator.post('/api/sessions', { robotId: robot.id })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const id = reply.body.sessionId as string
  await link.next('session')
  const console = await world.drive(operator, id)
  const watcher = await world.drive(client, id, 'watch')
  await console.state()
  await watcher.state()
  return { client, operator, robot, link, id, console, watcher }
}

const stopsIn = async (person: Person, id: string) =>
  (await person.get(`/api/sessions/${id}/events?limit=200`)).body.events.filter(
    ({ type }: { type: string }) => type === 'session.stopped',
  )

describe.concurrent('PostgreSQL', { timeout: 60_000 }, () => {
  test.each<[string, (proxy: TcpProxy) => void]>([
    ['refuses connections', (proxy) => proxy.cut()],
    ['does not answer', (proxy) => proxy.silence()],
  ])(
    '%s: control, deadman and stop work on; the stop is recorded once it is back, and once',
    async (_name, take) => {
      await using stage = await createWorldBehindProxy({ env: { HEARTBEAT_TIMEOUT_MS: '30000' } })
      const { world, proxy } = stage
      const { client, operator, link, id, console, watcher } = await drivenScene(world)
      console.control()
      await link.next('control')
      await link.next('stop')

      take(proxy)
      for (let n = 0; n < 3; n++) {
        const seq = console.control({ n })
        expect(await link.next('control')).toMatchObject({ seq, data: { n } })
        expect((await link.next('stop')).reason).toBe('deadman')
      }
      console.control()
      await link.next('control')
      watcher.send({ type: 'stop', reason: 'water' })
      expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'water', latched: true })
      for (const person of [console, watcher]) {
        const { stop } = await person.state(({ stop }) => stop?.latched)
        const byOwner = { by_role: 'client', clearable_by: 'owner' }
        expect(stop).toEqual({ reason: 'water', latched: true, recorded: false, ...byOwner })
      }
      const seq = console.control()
      expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })
      // It is tried again and again meanwhile, and somebody presses it again.
      await vi.waitFor(
        () => expect(link.frames.filter(({ latched }) => latched).length).toBeGreaterThan(1),
        patience,
      )
      console.send({ type: 'stop', reason: 'fire' })

      proxy.heal()
      const paused = await watcher.state(({ status, stop }) => stop?.recorded && status === 'PAUSED')
      expect(paused.stop).toMatchObject({ reason: 'water', latched: true, recorded: true })
      link.send({ type: 'stopped', reason: 'water' })
      const stops = await stopsIn(client, id)
      expect(stops).toMatchObject([{ data: { reason: 'water', actor_id: client.id } }])
      // Long enough for whatever else waited: a second's polling, and a retry.
      for (let n = 0; n < 3; n++) await watcher.next('latency')
      await vi.waitFor(
        async () => expect((await operator.get(`/api/sessions/${id}`)).status).toBe(200),
        patience,
      )
      await act(client, id, 'clear_stop')
      await act(operator, id, 'resume')
      await console.state(({ status, stop }) => status === 'ACTIVE' && stop === null)
      console.control()
      await link.next('control')
      expect(await stopsIn(client, id)).toHaveLength(1)
    },
  )

  test('comes back after the one who pressed has left: the stop is recorded all the same', async () => {
    await using stage = await createWorldBehindProxy()
    const { client, link, id, console, watcher } = await drivenScene(stage.world)
    stage.proxy.cut()
    console.send({ type: 'stop', reason: 'and gone' })
    expect(await link.next('stop')).toMatchObject({ reason: 'and gone', latched: true })
    await watcher.state(({ stop }) => stop?.latched)
    for (const person of [console, watcher]) person.destroy()
    link.destroy()
    stage.proxy.heal()
    await vi.waitFor(async () => expect(await stopsIn(client, id)).toHaveLength(1), patience)
  })

  test('is away while an operator is lost: the session pauses once it is back', async () => {
    await using stage = await createWorldBehindProxy({
      env: { OPERATOR_GRACE_MS: '500', HEARTBEAT_TIMEOUT_MS: '30000' },
    })
    const { world, proxy } = stage
    const { client, operator, id, link } = await openScene(world)
    await link.next('session')
    const console = await world.drive(operator, id)
    await console.state()
    proxy.cut()
    console.control()
    await link.next('control')
    console.destroy()
    expect((await link.next('stop')).reason).toBe('operator_lost')
    proxy.heal()
    await vi.waitFor(async () => {
      const { status, pause_reason: reason } = (await client.get(`/api/sessions/${id}`)).body
      expect({ status, reason }).toEqual({ status: 'PAUSED', reason: 'operator_lost' })
    }, patience)
  })
})

describe.concurrent('Redis is away', { timeout: 40_000 }, () => {
  async function createGatewayBehindProxy(context: TestContext) {
    const redis = await createTcpProxy(inject('redisUrl'))
    const world = await createWorld({ bus: 'redis', env: grace })
    context.onTestFinished(async () => {
      redis.heal()
      await world[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    return { world, redis, gatewayUrl }
  }

  test('a stop of the API is found by polling, one of the socket acts at once; control goes on', async (context) => {
    const { world, redis, gatewayUrl } = await createGatewayBehindProxy(context)
    const { client, operator, link, id, console, watcher } = await drivenScene(world, gatewayUrl)
    redis.cut()
    console.control()
    await link.next('control')
    watcher.send({ type: 'stop', reason: 'pressed' })
    expect(await link.next('stop')).toMatchObject({ reason: 'pressed', latched: true })
    await console.state(({ stop, status }) => stop?.recorded && status === 'PAUSED')
    link.send({ type: 'stopped', reason: 'pressed' })

    await act(client, id, 'clear_stop')
    await link.next('stop_cleared')
    await act(operator, id, 'resume')
    await console.state(({ status }) => status === 'ACTIVE')
    console.control()
    await link.next('control')
    await act(client, id, 'emergency_stop', 'asked for')
    await vi.waitFor(
      async () => expect(await link.next('stop')).toMatchObject({ reason: 'asked for' }),
      patience,
    )
    const seq = console.control()
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })
    expect(await stopsIn(client, id)).toHaveLength(2)
  })

  test('sockets of a key that is revoked are closed all the same', async (context) => {
    const { world, redis, gatewayUrl } = await createGatewayBehindProxy(context)
    const { operator, id, link } = await drivenScene(world, gatewayUrl)
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

describe('a robot that goes to another gateway', { timeout: 40_000 }, () => {
  test.each([
    ['while hints are heard', false],
    ['while no hint is heard', true],
  ])('%s: everybody is told to come after it, and drives on there', async (_name, deaf) => {
    await using redis = await createTcpProxy(inject('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env: grace })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    const { client, operator, robot, link, id, console, watcher } = await drivenScene(world, gatewayUrl)
    console.control()
    await link.next('control')
    if (deaf) redis.cut()

    const moved = (await world.connect(robot)).beat()
    expect(await link.closed).toBe(4000)
    expect(await console.closed).toBe(4009)
    expect(await watcher.closed).toBe(4009)
    const { url } = (await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })).body
    expect(url).toBe(`${world.gatewayUrl}/sessions/${id}/control`)
    const [again, onlooker] = [await world.drive(operator, id), await world.drive(client, id, 'watch')]
    expect(await again.state()).toMatchObject({ status: 'ACTIVE', robot_connected: true, stop: null })
    again.control()
    await moved.next('control')
    await onlooker.state()
    onlooker.send({ type: 'stop', reason: 'here too' })
    expect(await moved.next('stop')).toMatchObject({ latched: true })
    redis.heal()
    await again.state(({ stop }) => stop?.recorded)
    await moved.close()
  })

  test('a stop pressed where it was a moment ago reaches it', async () => {
    await using redis = await createTcpProxy(inject('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env: grace })
    const { gatewayUrl } = await world.addNode('gateway', { REDIS_URL: redis.url })
    const { client, robot, id, console } = await drivenScene(world, gatewayUrl)
    redis.cut() // the old gateway will learn by polling that it has lost the robot
    const moved = (await world.connect(robot)).beat()
    console.send({ type: 'stop', reason: 'late' })
    expect(await moved.next('stop')).toMatchObject({ reason: 'late', latched: true })
    expect(await stopsIn(client, id)).toHaveLength(1)
    redis.heal()
    await moved.close()
  })
})

test('a gateway that is told to end has its robots stand first, and everybody come again', {
  timeout: 40_000,
}, async () => {
  await using world = await createWorld({ bus: 'redis', env: grace })
  const node = await world.addNode('gateway')
  const { client, robot, operator, link, id, console, watcher } = await drivenScene(world, node.gatewayUrl)
  const told: string[] = []
  link.socket.on('message', (data: Buffer) =>
    told.push(JSON.parse(String(data)).reason ?? JSON.parse(String(data)).type),
  )
  const driving = setInterval(() => {
    if (console.socket.readyState === console.socket.OPEN) console.control()
  }, 20)
  await link.next('control')
  await node.stop()
  clearInterval(driving)
  for (const one of [link, console, watcher]) expect(await one.closed).toBe(4503)
  expect(told.filter((what) => what !== 'heartbeat_ack').at(-1)).toBe('gateway_draining')

  // Nobody is led to where the robot was; it is expected elsewhere, and its session goes on.
  expect((await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })).status).toBe(409)
  const back = (await world.connect(robot)).beat()
  const again = await world.drive(operator, id)
  await again.state(({ status }) => status === 'ACTIVE')
  again.control()
  await back.next('control')
  const log = (await client.get(`/api/sessions/${id}/events`)).body.events
  expect(log.map(({ type }: { type: string }) => type)).toEqual(['session.started'])
  await vi.waitFor(async () => {
    expect(await query(world.database.url, 'select id from gateway_nodes where draining')).toEqual([])
  }, patience)
  await back.close()
})

test('a robot that a gateway has sent away and that does not come to another is lost after the grace', {
  timeout: 40_000,
}, async () => {
  await using world = await createWorld({ bus: 'redis', env: { OPERATOR_GRACE_MS: '1500' } })
  const node = await world.addNode('gateway')
  const { client, link, id } = await drivenScene(world, node.gatewayUrl)
  await node.stop()
  expect(await link.closed).toBe(4503)
  expect((await client.get(`/api/sessions/${id}`)).body.status).toBe('ACTIVE')
  await vi.waitFor(async () => {
    const { status, pause_reason: reason } = (await client.get(`/api/sessions/${id}`)).body
    expect({ status, reason }).toEqual({ status: 'PAUSED', reason: 'robot_lost' })
  }, patience)
})
