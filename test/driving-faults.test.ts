import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { act, openScene, start } from './support/cast.ts'
import type { FrameSocket } from './support/frame-socket.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

const GRACE_MS = 1_000
const env = { OPERATOR_GRACE_MS: String(GRACE_MS) }
const patience = { timeout: 15_000, interval: 20 }

const ofType = (link: FrameSocket, type: string) => link.frames.filter((frame) => frame.type === type)

/** A session that is driven; the operator's connection goes through a proxy. */
async function drivenScene(world: World) {
  const scene = await openScene(world)
  const proxy = await createTcpProxy(world.gatewayUrl)
  const console = await world.drive(scene.operator, scene.id, 'control', proxy.url)
  const watcher = await world.drive(scene.client, scene.id, 'watch')
  await console.state()
  await watcher.state()
  console.control()
  await scene.link.next('control')
  return { ...scene, proxy, console, watcher }
}

/** Drives until it is told to stop. */
function keepDriving(console: { control(): number }, everyMs = 20) {
  const timer = setInterval(() => console.control(), everyMs)
  return () => clearInterval(timer)
}

describe('connections that look alive', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('an operator whose packets are lost: deadman, then cut off, then PAUSED after the grace', async () => {
    const { proxy, console, link, watcher, log } = await drivenScene(world)
    await using _ = proxy
    const stop = keepDriving(console)
    await link.next('control')
    proxy.silence()
    expect((await link.next('stop')).reason).toBe('deadman')
    const paused = await watcher.state(({ status }) => status === 'PAUSED')
    stop()
    expect(paused.robot_connected).toBe(true)
    expect((await log()).at(-1)).toMatchObject({ data: { reason: 'operator_lost' } })
    expect(ofType(link, 'stop').filter(({ reason }) => reason === 'deadman')).toEqual([])
  })

  test('a stall of the network, then everything at once: nothing of it moves the robot, what is fresh does', async () => {
    const { proxy, console, link } = await drivenScene(world)
    await using _ = proxy
    proxy.silence()
    const stale = Array.from({ length: 100 }, () => console.control({ stale: true }))
    expect((await link.next('stop')).reason).toBe('deadman')
    const lateBy = performance.now() + 600 // longer than what any of them is good for
    await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(lateBy), patience)
    proxy.heal()
    for (const seq of stale) expect(await console.next('dropped')).toMatchObject({ seq, why: 'expired' })
    // Perhaps not the first: a round trip that was measured across the stall counts until there is a better one.
    const fresh = keepDriving({ control: () => console.control({ fresh: true }) })
    expect(await link.next('control')).toMatchObject({ data: { fresh: true } })
    fresh()
  })

  test('a robot that does not read: the newest command only waits for it, and no stop is lost', async () => {
    const { proxy, console, link, watcher } = await drivenScene(world)
    await using _ = proxy
    link.socket.pause()
    const filler = 'x'.repeat(30_000)
    let dropped = 0
    await vi.waitFor(() => {
      for (let n = 0; n < 20; n++) console.control(filler)
      dropped = console.frames.filter(({ why }) => why === 'robot_slow').length
      expect(dropped).toBeGreaterThan(100)
    }, patience)
    watcher.send({ type: 'stop', reason: 'enough' })
    await console.state(({ stop }) => stop?.latched)
    link.socket.resume()
    await vi.waitFor(() => {
      expect(link.frames.some(({ type, reason }) => type === 'stop' && reason === 'enough')).toBe(true)
    }, patience)
    const frames = link.frames.map(({ type, latched }) => (latched ? 'latched' : type))
    expect(frames.lastIndexOf('control')).toBeLessThan(frames.indexOf('latched'))
  })

  test('a watcher that does not read misses telemetry, not the state, and goes on with the newest', async () => {
    const { proxy, link, watcher, operator, id } = await drivenScene(world)
    await using _ = proxy
    watcher.socket.pause()
    const filler = 'x'.repeat(50_000)
    const count = 600 // 30 MB: more than the kernel's buffers hold
    for (let n = 1; n <= count; n++) link.send({ type: 'telemetry', data: { n, filler } })
    link.send({ type: 'heartbeat', seq: 1_000_000 })
    await vi.waitFor(() => expect(link.frames.some(({ seq }) => seq === 1_000_000)).toBe(true), patience)
    await act(operator, id, 'pause')
    watcher.socket.resume()
    await watcher.state(({ status }) => status === 'PAUSED')
    await vi.waitFor(() => {
      const seen = ofType(watcher, 'telemetry').map(
        (frame) => (frame as unknown as { data: { n: number } }).data.n,
      )
      expect(seen.at(-1)).toBe(count)
      expect(seen.length).toBeLessThan(count)
    }, patience)
  })
})

describe('robots that move to another gateway', () => {
  test('people are sent there by a new ticket, and drive on', { timeout: 30_000 }, async () => {
    await using world = await createWorld({ bus: 'redis', env })
    const other = await world.addNode('gateway')
    const { console, watcher, robot, operator, id, proxy } = await drivenScene(world)
    await using _ = proxy
    const moved = (await world.connect(robot, other.gatewayUrl)).beat()
    expect(await console.closed).toBe(4009)
    expect(await watcher.closed).toBe(4009)
    const again = await world.drive(operator, id)
    expect(new URL(again.socket.url).port).toBe(new URL(other.gatewayUrl).port)
    await again.state(({ robot_connected }) => robot_connected)
    await vi.waitFor(async () => {
      // Moving may have taken so long that the robot was lost in between.
      if (again.frames.some(({ why }) => why === 'session_paused')) await act(operator, id, 'resume')
      again.control()
      await moved.next('control', 300)
    }, patience)
  })
})

describe('PostgreSQL and Redis away', () => {
  test('driving goes on; a stop holds at once and is recorded when the database is back', {
    timeout: 60_000,
  }, async () => {
    await using database = await createTcpProxy(inject('databaseUrl'))
    await using redis = await createTcpProxy(inject('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env })
    const url = new URL(world.database.url)
    url.host = new URL(database.url).host
    const gateway = await world.addNode('gateway', { DATABASE_URL: url.href, REDIS_URL: redis.url })
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client)
    const link = (await world.connect(robot, gateway.gatewayUrl)).beat()
    const id = await start(operator, robot.id)
    const console = await world.drive(operator, id)
    const watcher = await world.drive(client, id, 'watch')
    await console.state()
    await watcher.state()

    database.cut()
    redis.cut()
    for (let n = 0; n < 20; n++) {
      const seq = console.control()
      link.send({ type: 'ack', seq: (await link.next('control')).seq })
      expect(await console.next('ack')).toMatchObject({ seq })
    }
    expect((await link.next('stop')).reason).toBe('deadman')
    console.control()
    await link.next('control')
    watcher.send({ type: 'stop', reason: 'a dog' })
    const stop = await link.next('stop')
    expect(stop).toEqual({ type: 'stop', reason: 'a dog', latched: true })
    expect((await console.state(({ stop }) => stop?.latched)).stop.recorded).toBe(false)
    const seq = console.control()
    expect(await console.next('dropped')).toMatchObject({ seq, why: 'stopped' })
    const read = async () => (await client.get(`/api/sessions/${id}`)).body
    expect((await read()).control.stop).toBeNull()

    database.heal()
    redis.heal()
    await console.state(({ stop, status }) => stop?.recorded && status === 'PAUSED')
    expect((await read()).control.stop.reason).toBe('a dog')
    const { events } = (await client.get(`/api/sessions/${id}/events`)).body
    const stops = events.filter(({ type }: { type: string }) => type === 'session.stopped')
    expect(stops).toMatchObject([{ data: { actor_id: expect.any(String), reason: 'a dog' } }])
    await vi.waitFor(
      async () => expect(await world.node.platform.db.selectFrom('outbox').selectAll().execute()).toEqual([]),
      patience,
    )
    world.errors.length = 0 // what the node said of its stores while they were away
  })

  test('a stop through the API finds its way without Redis', { timeout: 30_000 }, async () => {
    await using redis = await createTcpProxy(inject('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env })
    const gateway = await world.addNode('gateway', { REDIS_URL: redis.url })
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client)
    const link = (await world.connect(robot, gateway.gatewayUrl)).beat()
    const id = await start(operator, robot.id)
    await link.next('session')
    redis.cut()
    await act(client, id, 'emergency_stop', 'smoke')
    expect(await link.next('stop')).toMatchObject({ reason: 'smoke', latched: true })
    redis.heal()
  })
})
