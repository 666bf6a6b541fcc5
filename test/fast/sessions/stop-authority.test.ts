import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MINUTE_MS = 60_000
let world: World
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

const stop = (fixture: SessionFixture, user: TestUser) =>
  fixture.performAction(user, 'emergency_stop', 'smoke')
const clear = (fixture: SessionFixture, user: TestUser) => fixture.performAction(user, 'clear_stop')
const ask = (fixture: SessionFixture, user: TestUser) => fixture.performAction(user, 'request_clear_stop')
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const stopSeenBy = async (fixture: SessionFixture, user: TestUser) => (await fixture.read(user)).control.stop
const onlyOwner = { status: 403, body: { error: expect.stringContaining('owner or an admin') } }
const set = (fixture: SessionFixture, stop_clear: string) =>
  fixture.client.patch(`/api/client/robots/${fixture.robotId}`, { stop_clear })

/** Returns a participant of the fixture: owner, operator or admin. */
const userWithRole = async (fixture: SessionFixture, who: 'client' | 'operator' | 'admin') =>
  who === 'admin' ? await world.admin() : fixture[who]

describe('a robot whose session ends under a stop of the owner or an admin', () => {
  const robotOf = async (fixture: SessionFixture) =>
    (await fixture.client.get(`/api/client/robots/${fixture.robotId}`)).body
  const available = async (fixture: SessionFixture) =>
    (await fixture.operator.get('/api/operator/available-robots')).body.robots.some(
      ({ id }: { id: string }) => id === fixture.robotId,
    )
  const start = (fixture: SessionFixture) =>
    fixture.operator.post('/api/sessions', { robotId: fixture.robotId })

  test.each(['client', 'admin'] as const)('by the %s is on hold until its owner releases it', async (who) => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, await userWithRole(fixture, who))
    expect(await fixture.performAction(fixture.operator, 'end')).toMatchObject({ status: 200 })

    expect(await robotOf(fixture)).toMatchObject({ status: 'AVAILABLE', on_hold: true })
    expect(await available(fixture)).toBe(false)
    const onHold = { status: 409, body: { error: expect.stringContaining('on hold') } }
    expect(await start(fixture)).toMatchObject(onHold)
    const later = new Date(clockMs + 3_600_000).toISOString()
    expect(
      await fixture.operator.post('/api/sessions', { robotId: fixture.robotId, scheduledFor: later }),
    ).toMatchObject(onHold)

    const released = await fixture.client.patch(`/api/client/robots/${fixture.robotId}`, { on_hold: false })
    expect(released).toMatchObject({ status: 200, body: { on_hold: false } })
    expect(await available(fixture)).toBe(true)
    expect(await start(fixture)).toMatchObject({ status: 201 })
  })

  test.each(['client', 'admin'] as const)('is free when the %s ends it', async (who) => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client)
    await fixture.performAction(await userWithRole(fixture, who), 'end')
    expect(await robotOf(fixture)).toMatchObject({ on_hold: false })
  })

  test('is free after a stop of only the operator, and when anyone may clear', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.operator)
    await fixture.performAction(fixture.operator, 'end')
    expect(await robotOf(fixture)).toMatchObject({ on_hold: false })

    const other = await openSessionFixture(world)
    await set(other, 'anyone')
    await stop(other, other.client)
    await other.performAction(other.operator, 'end')
    expect(await robotOf(other)).toMatchObject({ on_hold: false })
  })
})

describe('a stop that the owner or an admin requested', () => {
  test.each(['client', 'admin'] as const)('by the %s cannot be cleared by the operator', async (who) => {
    const fixture = await openSessionFixture(world)
    const user = await userWithRole(fixture, who)
    expect(await stop(fixture, user)).toMatchObject({ status: 200 })

    const refused = await clear(fixture, fixture.operator)
    expect(refused).toMatchObject(onlyOwner)
    expect(refused.body.error).toContain('Only the owner or an admin can clear this stop')
    const hub = await fixture.operator.hub()
    expect(await hub.send('session:action', { session_id: fixture.id, action: 'clear_stop' })).toMatchObject({
      ok: false,
      status: 403,
    })
    const seen = { by: user.id, by_role: who, clearable_by: 'owner', clear_requested_at: null }
    expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({ ...seen, may_clear: false })
    expect(await stopSeenBy(fixture, fixture.client)).toMatchObject({ ...seen, may_clear: true })
    expect(await stopSeenBy(fixture, await world.admin())).toMatchObject({ ...seen, may_clear: true })

    const other = await userWithRole(fixture, who === 'client' ? 'admin' : 'client')
    expect(await clear(fixture, other)).toMatchObject({ status: 200, body: { control: { stop: null } } })
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 200 })
    await fixture.performAction(fixture.client, 'end')
  })

  test('remains owner-clearable after further stops, and a stop of the operator becomes so when they repeat it', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.operator)
    expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({
      by_role: 'operator',
      clearable_by: 'anyone',
      may_clear: true,
    })
    await stop(fixture, fixture.client)
    await stop(fixture, fixture.operator)
    await stop(fixture, fixture.client)
    expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({
      by_role: 'operator',
      clearable_by: 'owner',
      may_clear: false,
    })
    expect(await clear(fixture, fixture.operator)).toMatchObject(onlyOwner)
    // The log records once that the operator may no longer clear the stop.
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'session.stopped', 'session.stopped'])
    expect((await fixture.log())[2]?.data).toMatchObject({ actor_id: fixture.client.id, status: 'PAUSED' })

    expect((await clear(fixture, fixture.client)).status).toBe(200)
    await stop(fixture, fixture.operator)
    expect((await clear(fixture, fixture.operator)).status).toBe(200)
    await fixture.performAction(fixture.client, 'end')
  })

  test('may be cleared by the operator when the current setting of the robot allows it', async () => {
    const fixture = await openSessionFixture(world)
    expect(await set(fixture, 'unknown')).toMatchObject({ status: 400 })
    expect(await set(fixture, 'anyone')).toMatchObject({ status: 200, body: { stop_clear: 'anyone' } })
    await stop(fixture, fixture.client)
    expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({
      clearable_by: 'anyone',
      may_clear: true,
    })
    expect(await ask(fixture, fixture.operator)).toMatchObject({ status: 409 })
    await set(fixture, 'owner')
    expect(await clear(fixture, fixture.operator)).toMatchObject(onlyOwner)
    await set(fixture, 'anyone')
    expect((await clear(fixture, fixture.operator)).status).toBe(200)
    await fixture.performAction(fixture.client, 'end')
  })

  test('on a self-operated robot can be cleared by its owner, who is the operator', async () => {
    const both = await world.newUser()
    for (const role of ['client', 'operator']) await both.post('/api/auth/profile', { role })
    const robot = await world.robot(both)
    await (await world.connect(robot)).beat()
    const { sessionId } = (await both.post('/api/sessions', { robotId: robot.id })).body
    const path = `/api/sessions/${sessionId}`
    const stopped = await both.patch(path, { action: 'emergency_stop' })
    expect(stopped.body.control.stop).toMatchObject({ by_role: 'client', may_clear: true })
    expect(await both.patch(path, { action: 'request_clear_stop' })).toMatchObject({ status: 409 })
    expect(await both.patch(path, { action: 'clear_stop' })).toMatchObject({ status: 200 })
    await both.patch(path, { action: 'end' })
  })

  test('is never cleared by an operator who concurrently clears their own stop', async () => {
    const fixture = await openSessionFixture(world)
    for (let round = 0; round < 10; round++) {
      await stop(fixture, fixture.operator)
      const [cleared, stopped] = await Promise.all([
        clear(fixture, fixture.operator),
        stop(fixture, fixture.client),
      ])
      expect(stopped.status).toBe(200)
      expect([200, 403, 409]).toContain(cleared.status)
      expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({ clearable_by: 'owner' })
      expect((await clear(fixture, fixture.client)).status).toBe(200)
    }
    await fixture.performAction(fixture.client, 'end')
  })

  test('leaves no columns set in the row after it is cleared, enforced by the database', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client)
    await using database = await connectTo(world.database.url)
    // Clears it like processes of the previous version, which do not know the requester columns.
    await database.query(
      'update sessions set stop_at = null, stop_reason = null, stop_by_id = null where id = $1',
      [fixture.id],
    )
    const { rows } = await database.query('select stop_by_role, stop_by_owner from sessions where id = $1', [
      fixture.id,
    ])
    expect(rows).toEqual([{ stop_by_role: null, stop_by_owner: false }])
    expect((await fixture.performAction(fixture.operator, 'end')).status).toBe(200)
  })
})

describe('a request of the operator to clear a stop', () => {
  test('reaches the owner immediately: in the log, as a notification and in the session', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client)
    const hub = await fixture.client.hub()
    expect(
      await fixture.performAction(fixture.operator, 'request_clear_stop', 'It was my cat'),
    ).toMatchObject({
      status: 200,
      body: { status: 'PAUSED', control: { stop: { may_clear: false } } },
    })
    await hub.saw('notification', { type: 'session.stop_clear_requested' })
    expect(await fixture.notificationsOf(fixture.client)).toMatchObject([
      { type: 'session.stopped' },
      { type: 'session.stop_clear_requested', data: { session_id: fixture.id, reason: 'It was my cat' } },
    ])
    expect((await fixture.log()).at(-1)).toMatchObject({
      type: 'session.stop_clear_requested',
      data: { actor_id: fixture.operator.id, status: 'PAUSED' },
    })
    expect(await stopSeenBy(fixture, fixture.client)).toMatchObject({
      clear_requested_at: new Date(clockMs).toISOString(),
    })
    await clear(fixture, fixture.client)
    await stop(fixture, fixture.client)
    expect(await stopSeenBy(fixture, fixture.client)).toMatchObject({ clear_requested_at: null })
    await fixture.performAction(fixture.client, 'end')
  })

  test('takes effect at most once a minute, and also notifies the admin who requested the stop', async () => {
    const fixture = await openSessionFixture(world)
    const admin = await world.admin()
    await stop(fixture, admin)
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(fixture, fixture.operator)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const asked = async (user: TestUser) =>
      typesOf(await fixture.notificationsOf(user)).filter((type) => type === 'session.stop_clear_requested')
    for (const user of [fixture.client, admin]) expect(await asked(user)).toHaveLength(1)
    clockMs += MINUTE_MS
    await ask(fixture, fixture.operator)
    for (const user of [fixture.client, admin]) expect(await asked(user)).toHaveLength(2)
    await fixture.performAction(fixture.client, 'end')
  })

  test('is allowed only for the operator, and only for a stop that the operator cannot clear', async () => {
    const fixture = await openSessionFixture(world)
    expect(await ask(fixture, fixture.operator)).toMatchObject({ status: 409 })
    await stop(fixture, fixture.operator)
    expect(await ask(fixture, fixture.operator)).toMatchObject({
      status: 409,
      body: { error: 'You may clear this stop yourself.' },
    })
    for (const user of [fixture.client, await world.admin()]) {
      expect(await ask(fixture, user)).toMatchObject({ status: 403 })
    }
    await fixture.performAction(fixture.client, 'end')
  })
})

describe('at the gateway', () => {
  test('every frame contains who requested the stop and who may clear it', async () => {
    const fixture = await openSessionFixture(world)
    await fixture.link.next('session')
    const driver = await world.drive(fixture.operator, fixture.id)
    const observer = await world.drive(fixture.client, fixture.id, 'watch')
    driver.send({ type: 'stop', reason: 'mine' })
    const own = { reason: 'mine', by_role: 'operator', clearable_by: 'anyone' }
    const ownItem = await observer.state(({ stop }) => stop?.recorded)
    expect(ownItem.stop).toMatchObject(own)

    observer.send({ type: 'stop', reason: 'no, mine' })
    const foreign = await driver.state(({ stop }) => stop?.clearable_by === 'owner' && stop.recorded)
    expect(foreign.stop).toMatchObject({ ...own, clearable_by: 'owner' })
    await waitFor(async () => expect(await clear(fixture, fixture.operator)).toMatchObject(onlyOwner))
    await set(fixture, 'anyone')
    await driver.state(({ stop }) => stop?.clearable_by === 'anyone')
    await set(fixture, 'owner')
    await driver.state(({ stop }) => stop?.clearable_by === 'owner')
    expect((await clear(fixture, fixture.client)).status).toBe(200)
    await driver.state(({ stop }) => stop === null || !stop.latched)
    await fixture.performAction(fixture.client, 'end')
  })

  test('a stop of the owner during a database outage is owner-clearable, also after a stop of the operator', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    {
      await using away = await createWorld({
        env: { DATABASE_URL: proxy.url, OPERATOR_GRACE_MS: '60000', HEARTBEAT_TIMEOUT_MS: '30000' },
      })
      const fixture = await openSessionFixture(away)
      await fixture.link.next('session')
      const driver = await away.drive(fixture.operator, fixture.id)
      const observer = await away.drive(fixture.client, fixture.id, 'watch')
      for (const user of [driver, observer]) await user.state() // both are admitted
      proxy.cut()
      driver.send({ type: 'stop', reason: 'mine' })
      const ownItem = await observer.state(({ stop }) => stop?.latched)
      expect(ownItem.stop).toMatchObject({ recorded: false, by_role: 'operator', clearable_by: 'anyone' })
      observer.send({ type: 'stop', reason: 'theirs' })
      const foreign = await driver.state(({ stop }) => stop?.clearable_by === 'owner')
      expect(foreign.stop).toMatchObject({ recorded: false, by_role: 'operator', reason: 'mine' })
      driver.send({ type: 'stop', reason: 'mine again' })
      for (const user of [driver, observer]) user.destroy()

      proxy.restore()
      await waitFor(async () =>
        expect(await stopSeenBy(fixture, fixture.operator)).toMatchObject({
          by: fixture.operator.id,
          by_role: 'operator',
          clearable_by: 'owner',
        }),
      )
      expect(await clear(fixture, fixture.operator)).toMatchObject(onlyOwner)
      away.errors.length = 0
      await waitFor(async () => expect((await clear(fixture, fixture.client)).status).toBe(200))
      await fixture.performAction(fixture.client, 'end')
    }
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  })

  test('a stop of the owner over a hub without a database is owner-clearable', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    {
      await using away = await createWorld({
        env: { DATABASE_URL: proxy.url, HEARTBEAT_TIMEOUT_MS: '30000' },
      })
      const fixture = await openSessionFixture(away)
      await fixture.link.next('session')
      const driver = await away.drive(fixture.operator, fixture.id)
      await driver.state()
      const hub = await fixture.client.hub()
      await hub.send('session:watch', { session_id: fixture.id })
      proxy.cut()
      const answer = await hub.send('session:action', { session_id: fixture.id, action: 'emergency_stop' })
      expect(answer).toMatchObject({ ok: false, status: 503 })
      const { stop } = await driver.state(({ stop }) => stop?.latched)
      expect(stop).toMatchObject({ by_role: 'client', clearable_by: 'owner', recorded: false })
      proxy.restore()
      await waitFor(async () => expect(await clear(fixture, fixture.operator)).toMatchObject(onlyOwner))
      await waitFor(async () => expect((await clear(fixture, fixture.client)).status).toBe(200))
      await fixture.performAction(fixture.client, 'end')
      away.errors.length = 0
    }
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  })
})
