import { describe, expect, inject, test, vi } from 'vitest'
import { act, openScene, start } from './support/cast.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

const GRACE_MS = 1_000
const env = { OPERATOR_GRACE_MS: String(GRACE_MS) }
const patience = { timeout: 15_000, interval: 20 }

/** A session that is driven. */
async function drivenScene(world: World) {
  const scene = await openScene(world)
  const console = await world.drive(scene.operator, scene.id)
  const watcher = await world.drive(scene.client, scene.id, 'watch')
  await console.state()
  await watcher.state()
  console.control()
  await scene.link.next('control')
  return { ...scene, console, watcher }
}

describe('robots that move to another gateway', () => {
  test('people are sent there by a new ticket, and drive on', { timeout: 30_000 }, async () => {
    await using world = await createWorld({ bus: 'redis', env })
    const other = await world.addNode('gateway')
    const { console, watcher, robot, operator, id } = await drivenScene(world)
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
