import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RobotStop } from '../../../src/core/events/bus.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { recovered } from '../../support/world/recovery.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let database: TestDatabase
let proxy: TcpProxy
let world: World
let unaffected: TestUser
const stops: RobotStop[] = []
beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await createTcpProxy(database.url)
  world = await createWorld({ env: { DATABASE_URL: proxy.url }, stopWaitMs: 500 })
  unaffected = await world.client()
  world.platform.core.bus.subscribe('robot.stop', (message) => stops.push(message))
})
afterEach(async () => {
  proxy.restore()
  await recovered(unaffected)
})
afterAll(async () => {
  world.errors.length = 0 // every 503 is logged
  await world[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

const stopsOf = ({ id }: SessionFixture) => stops.filter(({ sessionId }) => sessionId === id)
/** Returns the stops of a session that were sent to the gateway without the database. */
const direct = (fixture: SessionFixture) =>
  stopsOf(fixture).filter(({ eventSeq, sender }) => eventSeq === null && sender === undefined)
const notRecorded = { ok: false, status: 503, error: expect.stringContaining('not recorded') }
const stop = (hub: TestHubSocket, fixture: SessionFixture, reason?: string, action = 'emergency_stop') =>
  hub.send('session:action', { session_id: fixture.id, action, ...(reason !== undefined && { reason }) })
/** Waits until messages of the bus have been delivered. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function watching(fixture: SessionFixture, user = fixture.client) {
  const hub = await user.hub()
  expect(await hub.send('session:watch', { session_id: fixture.id })).toMatchObject({ ok: true })
  return hub
}

/** Stops a new session at the hub. On a busy machine, the database may record a stop later than the hub waits. */
async function recordedStop() {
  for (;;) {
    const fixture = await openSessionFixture(world)
    const hub = await watching(fixture)
    const answer = await stop(hub, fixture, 'smoke')
    if (answer.status !== 503) return { fixture, hub, answer }
    await fixture.performAction(fixture.client, 'end')
  }
}

describe('a remote stop at the hub while the database is unavailable', () => {
  test.each(['cut', 'silence'] as const)(
    'of a watching socket reaches the gateway at once, and the answer says that it is not recorded: %s',
    async (fault) => {
      const fixture = await openSessionFixture(world)
      const admin = await world.admin()
      const users = [fixture.client, fixture.operator, admin]
      const hubs = await Promise.all(users.map((user) => watching(fixture, user)))
      proxy[fault]()
      for (const [index, hub] of hubs.entries()) {
        expect(await stop(hub, fixture, `reason ${index}`)).toEqual(notRecorded)
      }
      expect(await stop(hubs[0] as TestHubSocket, fixture)).toEqual(notRecorded)
      const expected = {
        sessionId: fixture.id,
        eventSeq: null,
        byOwner: false,
      }
      expect(direct(fixture)).toEqual([
        ...users.map((user, index) => ({
          ...expected,
          userId: user.id,
          byRole: user === admin ? 'admin' : null,
          reason: `reason ${index}`,
        })),
        { ...expected, userId: fixture.client.id, byRole: null, reason: 'emergency_stop' },
      ])

      proxy.restore()
      await waitFor(async () => {
        expect(await stop(hubs[1] as TestHubSocket, fixture)).toMatchObject({
          ok: true,
          session: { status: 'PAUSED', control: { stop: { reason: expect.any(String) } } },
        })
      })
      await fixture.performAction(fixture.client, 'end')
    },
  )

  test('reaches the gateway also if the database answers slowly', async () => {
    const fixture = await openSessionFixture(world)
    const hub = await watching(fixture)
    await using blocker = await connectTo(database.url)
    await blocker.query('begin')
    await blocker.query('select from robots where id = $1 for update', [fixture.robot.id])
    expect(await stop(hub, fixture, 'smoke')).toEqual(notRecorded)
    expect(direct(fixture)).toMatchObject([{ sessionId: fixture.id, reason: 'smoke' }])
    await blocker.query('commit')
    // The database records the stop nevertheless, and watching sockets receive the event.
    await hub.saw('session:event', { type: 'session.stopped', seq: 2 })
    await waitFor(() => expect(stopsOf(fixture).some(({ eventSeq }) => eventSeq === 2)).toBe(true))
    await fixture.performAction(fixture.client, 'end')
  })

  test('stops the robot also for a socket that does not watch the session, and never for a user without a part in it', async () => {
    const [fixture, otherFixture] = [await openSessionFixture(world), await openSessionFixture(world)]
    const notWatching = await fixture.client.hub()
    const unrelatedUser = await watching(otherFixture, otherFixture.operator)
    proxy.cut()
    expect(await stop(unrelatedUser, fixture, 'not mine')).toEqual(notRecorded)
    expect(await stop(notWatching, fixture, 'mine')).toEqual(notRecorded)
    expect(await fixture.link.next('stop')).toMatchObject({ reason: 'mine', latched: true })
    proxy.restore()
    await waitFor(async () => expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200))
    await otherFixture.performAction(otherFixture.client, 'end')
  })

  test('is the only action that is sent without the database', async () => {
    const fixture = await openSessionFixture(world)
    const hub = await watching(fixture, fixture.operator)
    proxy.cut()
    for (const action of ['pause', 'end', 'clear_stop', 'resume']) {
      const answer = await stop(hub, fixture, undefined, action)
      expect(answer).toMatchObject({ ok: false, status: 503 })
      expect(answer.error).not.toContain('recorded')
    }
    await settled()
    expect(stopsOf(fixture)).toEqual([])
    proxy.restore()
    await waitFor(async () => expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200))
  })
})

describe('a remote stop by a program while the database is unavailable', () => {
  test.each(['cut', 'silence'] as const)('over REST and MCP reaches the robot at once: %s', async (fault) => {
    const [overRest, overMcp] = [await openSessionFixture(world), await openSessionFixture(world)]
    const stranger = await world.client()
    const { key } = await overMcp.client.key()
    await overMcp.client.request('GET', '/api/auth/profile', undefined, key)
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'stop_robot', arguments: { sessionId: overMcp.id, reason: 'smoke' } },
    }
    proxy[fault]()
    const refused = { status: 503, body: { error: expect.stringContaining('not recorded') } }
    expect(await overRest.performAction(stranger, 'emergency_stop', 'not mine')).toMatchObject(refused)
    expect(await overRest.performAction(overRest.operator, 'emergency_stop', 'mine')).toMatchObject(refused)
    expect(await overRest.link.next('stop')).toMatchObject({ reason: 'mine', latched: true })
    expect(await overMcp.client.request('POST', '/api/mcp', message, key)).toMatchObject(refused)
    expect(await overMcp.link.next('stop')).toMatchObject({ reason: 'smoke', latched: true })

    proxy.restore()
    // The gateway records them.
    for (const fixture of [overRest, overMcp]) {
      await waitFor(async () =>
        expect(await fixture.log()).toContainEqual(expect.objectContaining({ type: 'session.stopped' })),
      )
      await waitFor(async () => expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200))
    }
  })

  test('and of a credential that this process does not know waits for the database', async () => {
    const fixture = await openSessionFixture(world)
    const { key } = await fixture.client.key()
    proxy.cut()
    const stop = { action: 'emergency_stop' }
    const answer = await fixture.client.request('PATCH', fixture.path, stop, key)
    expect(answer).toMatchObject({ status: 503, body: { error: expect.not.stringContaining('recorded') } })
    expect(direct(fixture)).toEqual([])
    proxy.restore()
    await waitFor(async () => expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200))
  })
})

test('a stop at the hub while the database works is sent to the gateway at once, and again with its number', async () => {
  const { fixture, hub, answer } = await recordedStop()
  expect(answer).toMatchObject({ ok: true, session: { status: 'PAUSED' } })
  const sent = () => stopsOf(fixture).map(({ eventSeq, sender, reason }) => [eventSeq, sender, reason])
  const recorded = [
    [null, 'recording', 'smoke'],
    [2, undefined, 'smoke'],
  ]
  await waitFor(() => expect(sent()).toEqual(recorded))
  await fixture.performAction(fixture.client, 'end')
  expect(await stop(hub, fixture, 'late')).toMatchObject({ ok: false, status: 409 })
  await settled()
  expect(sent()).toEqual([...recorded, [null, 'recording', 'late'], [null, 'refused', 'late']])
})
