import { RobotLink } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDatabaseUnreachable } from '../../../src/core/errors/errors.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { hasRead } from '../../support/world/episodes.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis' })
})
afterAll(() => world[Symbol.asyncDispose]())

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const latched = (reason: string) => ({ type: 'stop', reason, latched: true })
const stop = (fixture: SessionFixture, user: TestUser, reason?: string) =>
  fixture.performAction(user, 'emergency_stop', reason)
const clear = (fixture: SessionFixture, user: TestUser, reason?: string) =>
  fixture.performAction(user, 'clear_stop', reason)

const stopSeenBy = async (fixture: SessionFixture, user: TestUser) => (await fixture.read(user)).control.stop
const onlyOwner = { status: 403, body: { error: expect.stringContaining('owner or an admin') } }

/** Reconnects the robot of a fixture. Returns the stop in its welcome. */
async function reconnect(fixture: SessionFixture, gatewayUrl = world.gatewayUrl) {
  const link = new TestRobot(`${gatewayUrl}/robots/${fixture.robot.id}/control`, fixture.robot.token)
  const welcome = await link.next('welcome')
  return { link: link.beat(), welcome }
}

describe('the robot', () => {
  test('may echo the longest possible reason after it has halted', async () => {
    const fixture = await openSessionFixture(world)
    const reason = 'é'.repeat(500)
    await stop(fixture, fixture.client, reason)
    expect(await fixture.link.next('stop')).toEqual(latched(reason))
    fixture.link.send({ type: 'stopped', reason })
    fixture.link.send({ type: 'heartbeat', seq: 987_654 })
    while ((await fixture.link.next('heartbeat_ack')).seq !== 987_654);
    expect(typesOf(fixture.link.frames)).not.toContain('error')
    expect(await stop(fixture, fixture.client, `${reason}é`)).toMatchObject({ status: 400 })
  })

  test('receives the stop at another gateway after its gateway was restarted', async () => {
    const before = await world.addNode('gateway')
    const fixture = await openSessionFixture(world)
    const { link } = await reconnect(fixture, before.gatewayUrl)
    await stop(fixture, fixture.client, 'across restarts')
    expect(await link.next('stop')).toEqual(latched('across restarts'))

    await before.stop()
    expect(await link.closed).toBe(4503)
    const after = await world.addNode('gateway')
    const back = await reconnect(fixture, after.gatewayUrl)
    expect(back.welcome.stop).toEqual({ reason: 'across restarts', latched: true })
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 409 })

    await clear(fixture, fixture.client)
    await back.link.next('stop_cleared')
    await expect.poll(async () => (await fixture.read()).control.connected).toBe(true)
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 200 })
    await back.link.close()
  })

  test('that was offline while the stop was cleared, or while its session ended, receives no stop', async () => {
    for (const action of ['clear_stop', 'end']) {
      const fixture = await openSessionFixture(world)
      await stop(fixture, fixture.client)
      await fixture.link.next('stop')
      await fixture.link.close()
      await fixture.performAction(fixture.client, action)
      const { link, welcome } = await reconnect(fixture)
      expect(welcome.stop).toBe(null)
      await link.close()
    }
  })

  test('of the sdk retains the stop across a lost connection, and drops it after the clear', async () => {
    await using network = await createTcpProxy(world.gatewayUrl)
    const fixture = await openSessionFixture(world)
    const link = new RobotLink({
      url: new URL(`/robots/${fixture.robot.id}/control`, network.url).href,
      token: fixture.robot.token,
      reconnect: { baseMs: 10, maxMs: 50 },
    })
    const first = await link.connect()
    await stop(fixture, fixture.client, 'sdk')
    const predicate = () => waitFor(() => expect(link.stop).toEqual({ reason: 'sdk', latched: true }))
    await predicate()
    network.cut()
    await waitFor(() => expect(link.state).not.toBe('online'))
    network.restore()
    await waitFor(() => expect(link.epoch).toBe(first.epoch + 1))
    await predicate()

    await clear(fixture, fixture.client)
    const pausedOnly = { reason: 'session_paused', latched: false }
    await waitFor(() => expect(link.stop).toEqual(pausedOnly))
    await link.close()
  })
})

describe('concurrently', () => {
  test('stops and ends: the session ends, and no stop remains', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const replies = await Promise.all([
        ...times(4).map(() => stop(fixture, fixture.client)),
        fixture.performAction(fixture.operator, 'end'),
        ...times(4).map(() => stop(fixture, fixture.operator)),
      ])
      expect(replies[4]?.status).toBe(200)
      for (const { status } of replies) expect([200, 409]).toContain(status)
      expect(await fixture.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const entries = await fixture.log()
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(entries.at(-1)?.type).toBe('session.ended')
      await fixture.link.close()
    }
  })

  test('stops, clears and resumes: never ACTIVE under a stop, and the log alternates', async () => {
    const fixture = await openSessionFixture(world)
    const actions = ['emergency_stop', 'resume', 'clear_stop', 'resume']
    for (let round = 0; round < 8; round++) {
      const replies = await Promise.all(
        times(12).map((n) => fixture.performAction(fixture.operator, actions[n % 4] as string)),
      )
      expect(replies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      const { status, control } = await fixture.read()
      if (control.stop) expect(status).toBe('PAUSED')
    }
    let stopped = false
    let active = true
    for (const { type } of (await fixture.log()).slice(1)) {
      if (type === 'session.stopped') {
        expect(stopped, 'a stop upon a stop makes no entry').toBe(false)
        stopped = true
        active = false
      } else if (type === 'session.stop_cleared') {
        expect(stopped).toBe(true)
        stopped = false
      } else {
        expect(type).toBe('session.resumed')
        expect({ stopped, active }).toEqual({ stopped: false, active: false })
        active = true
      }
    }
  })

  test('a stop at the gateway and an end: the session ends, and the stop precedes the end or is refused', async () => {
    const { controlPersistence } = world.platform.sessions
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const [answer] = await Promise.all([
        controlPersistence.recordStop({ sessionId: fixture.id, userId: fixture.client.id }, 'race'),
        fixture.performAction(fixture.operator, 'end'),
      ])
      expect(await fixture.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const stopped = answer === 'over' ? [] : ['session.stopped']
      const entries = await fixture.log()
      expect(entries.map(({ seq }) => seq)).toEqual(times(entries.length).map((index) => index + 1))
      expect(typesOf(entries)).toEqual(['session.started', ...stopped, 'session.ended'])
      await fixture.link.close()
    }
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

  test('an action that waits for a lock is logged with the time after the wait', async () => {
    const fixture = await openSessionFixture(world)
    const sql = await connectTo(world.database.url)
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [fixture.robot.id])
    const pausing = fixture.performAction(fixture.operator, 'pause')
    await waitFor(async () => {
      const { rows } = await sql.query(`select from pg_locks where not granted`)
      expect(rows.length).toBeGreaterThan(0)
    })
    const releasedMs = Date.now()
    await sql.query('rollback')
    await sql.end()
    expect((await pausing).status).toBe(200)
    const [, paused] = await fixture.log()
    expect(Date.parse(paused?.at ?? '')).toBeGreaterThanOrEqual(releasedMs)
  })
})

// Each of these tests waits for seconds that other processes measure.
describe.concurrent('with other processes', () => {
  test('the gateway repeats a stop over every connection until the robot confirms that it has halted', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client, 'smoke')
    for (let time = 0; time < 3; time++) expect(await fixture.link.next('stop')).toEqual(latched('smoke'))
    const { link, welcome } = await reconnect(fixture)
    expect(welcome.stop).toEqual({ reason: 'smoke', latched: true })
    expect(await link.next('stop')).toEqual(latched('smoke'))
    link.send({ type: 'stopped', reason: 'smoke' })
    await hasRead(link)
    link.frames.length = 0
    for (let count = 0; count < 13; count++) await link.next('heartbeat_ack')
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])
    await link.close()
  })

  test('a stop and the loss of the robot are both in the log, and the stop is latched', async () => {
    const race = async () => {
      const fixture = await openSessionFixture(world)
      fixture.link.destroy()
      expect(await stop(fixture, fixture.client, 'race')).toMatchObject({ status: 200 })
      const types = ['robot.lost', 'session.started', 'session.stopped']
      await waitFor(async () => expect(typesOf(await fixture.log()).toSorted()).toEqual(types))
      expect(await fixture.read()).toMatchObject({
        status: 'PAUSED',
        control: { connected: false, stop: { reason: 'race' } },
      })
      await fixture.performAction(fixture.client, 'end')
    }
    await Promise.all(times(5).map(race))
  })

  test('a stop waits at most some seconds for a process that froze inside a transaction', async () => {
    const fixture = await openSessionFixture(world)
    let frozen: Promise<unknown> | undefined
    let thaw = () => {}
    await new Promise<void>((locked) => {
      const predicate = new Promise<void>((resolve) => {
        thaw = resolve
      })
      frozen = world.platform.core.db.transaction().execute(async (trx) => {
        await trx.selectFrom('robots').select('id').where('id', '=', fixture.robot.id).forUpdate().execute()
        locked()
        await predicate
        await trx.selectFrom('robots').select('id').execute()
      })
    })
    const refused = expect(frozen).rejects.toThrow()
    expect(await stop(fixture, fixture.client, 'now')).toMatchObject({ status: 200 })
    thaw()
    await refused
    expect(await fixture.link.next('stop')).toEqual(latched('now'))
    await fixture.performAction(fixture.client, 'end')
  })
})

describe('while the database is unavailable', () => {
  test('a stop of the owner at the gateway during a database outage is owner-clearable, also after a stop of the operator', async () => {
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

  test('a stop at the gateway throws while the database is unavailable', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using behind = await createWorld({ env: { DATABASE_URL: proxy.url } })
      const fixture = await openSessionFixture(behind)
      const stop = () =>
        behind.platform.sessions.controlPersistence.recordStop(
          { sessionId: fixture.id, userId: fixture.client.id },
          'now',
        )
      proxy.cut()
      await expect(stop()).rejects.toSatisfy(isDatabaseUnreachable)
      proxy.restore()
      await waitFor(async () => expect(await stop()).toBe(2))
      await fixture.performAction(fixture.client, 'end')
      behind.errors.length = 0
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})
