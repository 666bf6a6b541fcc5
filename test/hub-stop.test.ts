import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RobotStop } from '../src/core/events/bus.ts'
import { openScene, type Scene } from './support/cast.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import type { TestHubSocket } from './support/hub-socket.ts'
import { connectTo } from './support/sql.ts'
import { createTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

let database: TestDatabase
let proxy: TcpProxy
let world: World
let stops: RobotStop[]
beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await createTcpProxy(database.url)
  world = await createWorld({ env: { DATABASE_URL: proxy.url } })
  stops = []
  world.platform.bus.subscribe('robot.stop', (message) => stops.push(message))
})
afterEach(async () => {
  proxy.heal()
  world.errors.length = 0 // every 503 is logged
  await world[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

/** Stops that went to the gateway without the database. */
const direct = () => stops.filter(({ eventSeq }) => eventSeq === null)
const notRecorded = { ok: false, status: 503, error: expect.stringContaining('not recorded') }
const stop = (hub: TestHubSocket, scene: Scene, reason?: string, action = 'emergency_stop') =>
  hub.send('session:action', { session_id: scene.id, action, ...(reason !== undefined && { reason }) })
/** What a second message of one sender would have come behind. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function watching(scene: Scene, person = scene.client) {
  const hub = await person.hub()
  expect(await hub.send('session:watch', { session_id: scene.id })).toMatchObject({ ok: true })
  return hub
}

describe('an emergency stop at the hub while the database is away', () => {
  test.each(['cut', 'silence'] as const)(
    'reaches the gateway at once from who watches the session, and the answer says that it is not recorded: %s',
    async (fault) => {
      const scene = await openScene(world)
      const admin = await world.admin()
      const people = [scene.client, scene.operator, admin]
      const hubs = await Promise.all(people.map((person) => watching(scene, person)))
      proxy[fault]()
      for (const [index, hub] of hubs.entries()) {
        expect(await stop(hub, scene, `reason ${index}`)).toEqual(notRecorded)
      }
      expect(await stop(hubs[0] as TestHubSocket, scene)).toEqual(notRecorded)
      const expected = {
        ...{ robotId: scene.robot.id, sessionId: scene.id, eventSeq: null },
        ...{ byRole: null, byOwner: false },
      }
      expect(direct()).toEqual([
        ...people.map(({ id }, index) => ({ ...expected, userId: id, reason: `reason ${index}` })),
        { ...expected, userId: scene.client.id, reason: 'emergency_stop' },
      ])

      proxy.heal()
      await vi.waitFor(async () => {
        expect(await stop(hubs[1] as TestHubSocket, scene)).toMatchObject({
          ...{ ok: true, session: { status: 'PAUSED', control: { stop: { reason: expect.any(String) } } } },
        })
      }, 20_000)
      await scene.act(scene.client, 'end')
    },
  )

  test('reaches it also over a database that answers, but is held up', async () => {
    const scene = await openScene(world)
    const hub = await watching(scene)
    await using holder = await connectTo(database.url)
    await holder.query('begin')
    await holder.query('select from robots where id = $1 for update', [scene.robot.id])
    expect(await stop(hub, scene, 'smoke')).toEqual(notRecorded)
    expect(direct()).toMatchObject([{ sessionId: scene.id, reason: 'smoke' }])
    await holder.query('commit')
    // What was asked of the database is done all the same, and told to those who watch.
    await hub.saw('session:event', { type: 'session.stopped', seq: 2 })
    await vi.waitFor(() => expect(stops.some(({ eventSeq }) => eventSeq === 2)).toBe(true), 10_000)
    await scene.act(scene.client, 'end')
  })

  test('does nothing from who does not watch the session, or not any more, or watches another', async () => {
    const [scene, other] = [await openScene(world), await openScene(world)]
    const bystander = await scene.client.hub()
    const stranger = await watching(other, other.operator)
    const former = await watching(scene, scene.operator)
    await former.send('session:unwatch', { session_id: scene.id })
    expect(await stranger.send('session:watch', { session_id: scene.id })).toMatchObject({ status: 404 })
    proxy.cut()
    for (const hub of [bystander, stranger, former]) {
      const answer = await stop(hub, scene, 'mine')
      expect(answer).toMatchObject({ ok: false, status: 503 })
      expect(answer.error).not.toContain('recorded')
    }
    await settled()
    expect(direct()).toEqual([])
    proxy.heal()
    await vi.waitFor(async () => expect((await scene.act(scene.client, 'end')).status).toBe(200), 20_000)
    await other.act(other.client, 'end')
  })

  test('is the one act that does', async () => {
    const scene = await openScene(world)
    const hub = await watching(scene, scene.operator)
    proxy.cut()
    for (const action of ['pause', 'end', 'clear_stop', 'resume']) {
      const answer = await stop(hub, scene, undefined, action)
      expect(answer).toMatchObject({ ok: false, status: 503 })
      expect(answer.error).not.toContain('recorded')
    }
    await settled()
    expect(stops).toEqual([])
    proxy.heal()
    await vi.waitFor(async () => expect((await scene.act(scene.client, 'end')).status).toBe(200), 20_000)
  })
})

test('a stop at the hub with the database there goes to the gateway once, with its number', async () => {
  const scene = await openScene(world)
  const hub = await watching(scene)
  expect(await stop(hub, scene, 'smoke')).toMatchObject({ ok: true, session: { status: 'PAUSED' } })
  await vi.waitFor(() => expect(stops).toHaveLength(1), 10_000)
  expect(stops).toMatchObject([{ sessionId: scene.id, eventSeq: 2, reason: 'smoke' }])
  await scene.act(scene.client, 'end')
  expect(await stop(hub, scene, 'late')).toMatchObject({ ok: false, status: 409 })
  await settled()
  expect(stops).toHaveLength(1)
})
