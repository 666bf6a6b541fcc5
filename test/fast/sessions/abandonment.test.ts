import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAbandonmentWorker } from '../../../src/modules/sessions/lifecycle/abandonment.worker.ts'
import { connectTo } from '../../support/database/sql.ts'
import { TestDriver } from '../../support/gateway/frame-socket.ts'
import { actors, createSilentGateway, MINUTE_MS, type SilentGateway } from '../../support/world/billing.ts'
import { openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const JOIN_MS = 2 * MINUTE_MS
const PAUSE_LIMIT_MS = 30 * MINUTE_MS

type Entry = { type: string; data: Record<string, unknown> }
const read = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body
const statusOf = async (user: TestUser, id: string) => (await read(user, id)).status as string
const logOf = async (user: TestUser, id: string): Promise<Entry[]> =>
  (await user.get(`/api/sessions/${id}/events`)).body.events
const notified = async (user: TestUser, type: string): Promise<Entry[]> =>
  (await user.get('/api/notifications?limit=100')).body.notifications.filter(
    (item: Entry) => item.type === type,
  )

/** Returns the number of transactions that wait for a lock. */
const WAITING = `select count(*)::int from pg_stat_activity
  where wait_event_type = 'Lock' and datname = current_database()`

let clockMs = Date.parse('2026-05-10T12:00:00Z')
const now = () => new Date(clockMs)
const iso = (aheadMs: number) => new Date(clockMs + aheadMs).toISOString()
const limits = { operatorJoinMs: JOIN_MS, pauseLimitMs: PAUSE_LIMIT_MS, operatorGoneMs: 0 }
/** Creates the worker of a platform without a worker role. The test runs it. */
const workerOf = ({ platform }: World, change: Partial<typeof limits> = {}) =>
  createAbandonmentWorker({ ...platform.core, ...platform.sessions, now, ...limits, ...change })

describe('without a gateway', () => {
  let world: World
  let gateway: SilentGateway
  let worker: ReturnType<typeof workerOf>
  beforeAll(async () => {
    world = await createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub' } })
    gateway = await createSilentGateway(world, () => clockMs)
    worker = workerOf(world)
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  const running = async () => {
    const users = await actors(world, gateway)
    return { ...users, id: await start(users.operator, users.robotId) }
  }
  const join = (id: string) => world.platform.sessions.controlPersistence.recordJoin(id)

  describe('an operator who never connects', () => {
    test('pauses the session with operator_absent, notifies both sides, and none of the time is billed', async () => {
      const { owner, operator, id } = await running()
      clockMs += JOIN_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({
        status: 'PAUSED',
        pause_reason: 'operator_absent',
        billable_seconds: 0,
      })
      expect((await logOf(owner, id)).at(-1)).toMatchObject({
        type: 'session.paused',
        data: { status: 'PAUSED', reason: 'operator_absent' },
      })
      for (const user of [owner, operator]) {
        expect(await notified(user, 'session.paused')).toMatchObject([
          { data: { reason: 'operator_absent' } },
        ])
      }
      clockMs += MINUTE_MS
      await performAction(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ billable_seconds: 0, client_charge_cents: 0 })
      expect(await read(operator, id)).toMatchObject({ operator_earnings_cents: 0 })
    })

    test('who connects late causes charges only for the time after the resumption', async () => {
      const { owner, operator, robotId, id } = await running()
      clockMs += JOIN_MS
      await worker.run()
      await join(id)
      clockMs += MINUTE_MS
      await performAction(operator, id, 'resume')
      clockMs += 3 * MINUTE_MS
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      await gateway.lose(robotId, clockMs - MINUTE_MS) // an outage in the last minute
      await performAction(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ billable_seconds: 120, client_charge_cents: 100 })
      expect(await read(operator, id)).toMatchObject({ operator_earnings_cents: 70 })
    })

    test('has the full time again after a resumption; a robot lost in the pause reduces no billed time', async () => {
      const { owner, operator, robotId, id } = await running()
      clockMs += JOIN_MS
      await worker.run()
      await gateway.lose(robotId, clockMs - 90_000)
      await gateway.connect(robotId)
      await performAction(operator, id, 'resume')
      clockMs += JOIN_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({ status: 'PAUSED', billable_seconds: 0 })
      await performAction(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ client_charge_cents: 0 })
    })

    test('who only uses REST is billed normally within the time', async () => {
      const { owner, operator, id } = await running()
      clockMs += 90_000
      await worker.run()
      await performAction(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ client_charge_cents: 100 })
    })

    test('never pauses the session with a limit of 0', async () => {
      const { owner, operator, id } = await running()
      clockMs += 10 * JOIN_MS
      await workerOf(world, { operatorJoinMs: 0 }).run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      await performAction(operator, id, 'end')
    })
  })

  describe('a pause', () => {
    const paused = async () => {
      const fixture = await running()
      await join(fixture.id)
      clockMs += MINUTE_MS
      await performAction(fixture.operator, fixture.id, 'pause')
      return fixture
    }

    test('is announced to both sides once, five minutes before its limit, and ends the session at the limit', async () => {
      const { owner, operator, robotId, id } = await paused()
      clockMs += PAUSE_LIMIT_MS - 5 * MINUTE_MS - 1
      await worker.run()
      expect((await logOf(owner, id)).at(-1)).toMatchObject({ type: 'session.paused' })
      clockMs += 1
      await Promise.all([worker.run(), workerOf(world).run(), workerOf(world).run()])
      const ends_at = iso(5 * MINUTE_MS)
      expect((await logOf(owner, id)).slice(-2)).toMatchObject([
        { type: 'session.paused' },
        { type: 'session.pause_limit_soon', data: { status: 'PAUSED', ends_at } },
      ])
      for (const user of [owner, operator]) {
        expect(await notified(user, 'session.pause_limit_soon')).toMatchObject([
          { data: { session_id: id, robot_id: robotId, ends_at } },
        ])
      }
      clockMs += 5 * MINUTE_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      clockMs += 1
      await Promise.all([worker.run(), workerOf(world).run()])
      expect(await read(owner, id)).toMatchObject({
        status: 'COMPLETED',
        end_reason: 'pause_limit',
        client_charge_cents: 50,
      })
      expect((await logOf(owner, id)).filter(({ type }) => type === 'session.ended')).toHaveLength(1)
      expect((await owner.get(`/api/client/robots/${robotId}`)).body.status).toBe('AVAILABLE')
    })

    test('that is resumed is no longer near its limit; the next pause has the full time again', async () => {
      const { owner, operator, id } = await paused()
      clockMs += PAUSE_LIMIT_MS - MINUTE_MS
      await worker.run()
      expect(await notified(owner, 'session.pause_limit_soon')).toHaveLength(1)
      await performAction(operator, id, 'resume')
      clockMs += MINUTE_MS
      await worker.run()
      await performAction(operator, id, 'pause')
      clockMs += PAUSE_LIMIT_MS - 5 * MINUTE_MS - 1
      await worker.run()
      expect(await notified(owner, 'session.pause_limit_soon')).toHaveLength(1)
      clockMs += 1
      await worker.run()
      expect(await notified(owner, 'session.pause_limit_soon')).toHaveLength(2)
      expect(await statusOf(owner, id)).toBe('PAUSED')
      await performAction(operator, id, 'end')
    })

    test('that no worker handled in time is still announced before it ends the session', async () => {
      const { owner, id } = await paused()
      clockMs += 10 * PAUSE_LIMIT_MS
      await worker.run()
      expect(await notified(owner, 'session.pause_limit_soon')).toMatchObject([
        { data: { ends_at: iso(5 * MINUTE_MS) } },
      ])
      clockMs += 5 * MINUTE_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({ status: 'COMPLETED', end_reason: 'pause_limit' })
    })

    test('with a short limit is announced a third of the limit ahead; a limit of 0 never ends it', async () => {
      const { owner, operator, id } = await paused()
      const short = workerOf(world, { pauseLimitMs: 3 * MINUTE_MS })
      await workerOf(world, { pauseLimitMs: 0 }).run()
      clockMs += 2 * MINUTE_MS
      await short.run()
      expect(await notified(operator, 'session.pause_limit_soon')).toMatchObject([
        { data: { ends_at: iso(MINUTE_MS) } },
      ])
      clockMs += PAUSE_LIMIT_MS
      await workerOf(world, { pauseLimitMs: 0 }).run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      await performAction(operator, id, 'end')
    })

    test('that is resumed at its limit either continues the session or ends it, never both', async () => {
      for (let round = 0; round < 12; round++) {
        const { owner, operator, id } = await paused()
        clockMs += PAUSE_LIMIT_MS - 5 * MINUTE_MS
        await worker.run()
        clockMs += 5 * MINUTE_MS
        const resume = () => operator.patch(`/api/sessions/${id}`, { action: 'resume' })
        const [resumed] = await Promise.all([resume(), worker.run(), workerOf(world).run()])
        const status = await statusOf(owner, id)
        const last = (await logOf(owner, id)).at(-1)?.type
        if (resumed.status === 200) expect([status, last]).toEqual(['ACTIVE', 'session.resumed'])
        else expect([resumed.status, status, last]).toEqual([409, 'COMPLETED', 'session.ended'])
        if (status === 'ACTIVE') await performAction(operator, id, 'end')
      }
    })
  })

  describe('a planned end', () => {
    const planned = async (plannedMinutes: number) => {
      const users = await actors(world, gateway)
      const reply = await users.operator.post('/api/sessions', { robotId: users.robotId, plannedMinutes })
      const id = reply.body.sessionId as string
      await join(id)
      return { ...users, id }
    }

    test('is announced to both sides once, five minutes ahead; the session continues', async () => {
      const { owner, operator, robotId, id } = await planned(30)
      clockMs += 25 * MINUTE_MS - 1
      await worker.run()
      expect(await notified(owner, 'session.planned_end_soon')).toEqual([])
      clockMs += 1
      await Promise.all([worker.run(), workerOf(world).run(), workerOf(world).run()])
      const data = { planned_minutes: 30, planned_end: iso(5 * MINUTE_MS) }
      expect((await logOf(owner, id)).slice(1)).toMatchObject([{ type: 'session.planned_end_soon', data }])
      for (const user of [owner, operator]) {
        const about = { session_id: id, robot_id: robotId, ...data }
        expect(await notified(user, 'session.planned_end_soon')).toMatchObject([{ data: about }])
      }
      clockMs += 60 * MINUTE_MS
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      expect(await notified(owner, 'session.planned_end_soon')).toHaveLength(1)
      await performAction(operator, id, 'end')
    })

    test('is announced again after an extension; in a short session half of the length ahead', async () => {
      const { owner, operator, id } = await planned(4)
      clockMs += 2 * MINUTE_MS
      await worker.run()
      expect(await notified(operator, 'session.planned_end_soon')).toHaveLength(1)
      await owner.post(`/api/sessions/${id}/extend`, { additionalMinutes: 10 })
      await performAction(operator, id, 'approve_extension')
      await worker.run()
      expect(await notified(operator, 'session.planned_end_soon')).toHaveLength(1)
      clockMs += 7 * MINUTE_MS
      await worker.run()
      expect(await notified(operator, 'session.planned_end_soon')).toMatchObject([
        { data: { planned_minutes: 14, planned_end: iso(5 * MINUTE_MS) } },
        { data: { planned_minutes: 4 } },
      ])
      await performAction(operator, id, 'end')
    })
  })

  describe('an abandoned session', () => {
    test('can be paused and ended by an admin, which is audited; only its operator resumes it', async () => {
      const { owner, operator, id } = await running()
      const admin = await world.admin()
      const by = (action: string) => admin.patch(`/api/sessions/${id}`, { action, reason: 'left alone' })
      expect(await by('pause')).toMatchObject({ status: 200, body: { status: 'PAUSED' } })
      expect((await by('resume')).status).toBe(403)
      expect(await by('end')).toMatchObject({ status: 200, body: { status: 'COMPLETED' } })
      for (const type of ['session.paused', 'session.ended']) {
        for (const user of [owner, operator]) expect(await notified(user, type)).toHaveLength(1)
      }
      const { entries } = (await admin.get(`/api/admin/audit?subject_id=${id}`)).body
      const byAdmin = entries.filter((item: { action: string }) => item.action !== 'session.charged')
      expect(byAdmin).toMatchObject([
        { action: 'session.ended', actor_id: admin.id, data: { reason: 'left alone' } },
        { action: 'session.paused', actor_id: admin.id, data: { reason: 'left alone' } },
      ])
    })

    test('has no audit entries for actions of its client and operator', async () => {
      const { owner, id } = await running()
      const admin = await world.admin()
      await performAction(owner, id, 'pause')
      await performAction(owner, id, 'end')
      const { entries } = (await admin.get(`/api/admin/audit?subject_id=${id}`)).body
      expect(entries).toMatchObject([{ action: 'session.charged' }])
    })

    test('can be ended by the owner after its operator left it paused, which frees the robot', async () => {
      const { owner, operator, robotId, id } = await running()
      await performAction(operator, id, 'pause')
      expect(await performAction(owner, id, 'end')).toMatchObject({ status: 'COMPLETED' })
      expect((await owner.get(`/api/client/robots/${robotId}`)).body.status).toBe('AVAILABLE')
    })
  })
})

describe('with a gateway', () => {
  let world: World
  let worker: ReturnType<typeof workerOf>
  beforeAll(async () => {
    world = await createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
    worker = workerOf(world)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('an operator whose control socket has connected is not absent, even without control frames', async () => {
    const fixture = await openSessionFixture(world)
    const console = await world.drive(fixture.operator, fixture.id)
    await console.state()
    clockMs += 10 * JOIN_MS
    await worker.run()
    expect(await statusOf(fixture.client, fixture.id)).toBe('ACTIVE')
    console.control({ linear: 1 })
    expect(await fixture.link.next('control')).toMatchObject({ data: { linear: 1 } })
    await performAction(fixture.operator, fixture.id, 'end')
  })

  test.each(['operator', 'worker'] as const)(
    'an operator who connects while the worker pauses for their absence: either one succeeds, %s first',
    async (first) => {
      await using database = await connectTo(world.database.url)
      await using monitor = await connectTo(world.database.url) // pg_stat_activity is stable within a transaction
      const waiting = async () => (await monitor.query(WAITING)).rows[0].count
      for (let round = 0; round < 5; round++) {
        const fixture = await openSessionFixture(world)
        clockMs += JOIN_MS
        const { url, ticket } = (await fixture.operator.post(`${fixture.path}/ticket`, { part: 'control' }))
          .body
        await database.query('begin')
        await database.query('select from sessions where id = $1 for update', [fixture.id])
        let console: TestDriver | undefined
        const work: Promise<unknown>[] = []
        const begin = {
          operator: () => {
            console = new TestDriver(url, ticket)
          },
          worker: () => work.push(worker.run()),
        }
        // Both wait for the row in this order, then continue concurrently.
        begin[first]()
        await expect.poll(waiting).toBe(1)
        begin[first === 'operator' ? 'worker' : 'operator']()
        await expect.poll(waiting).toBe(2)
        await database.query('commit')
        await console!.state()
        console!.control({ round })
        const received = () => fixture.link.frames.some(({ type }) => type === 'control')
        const dropped = () => console!.frames.find(({ type }) => type === 'dropped')
        await expect.poll(() => received() || dropped() !== undefined).toBe(true)
        await Promise.all([...work, worker.run()])
        const log = await logOf(fixture.client, fixture.id)
        const paused = log.some(({ data }) => data.reason === 'operator_absent')
        expect(paused).toBe(first === 'worker')
        expect(received(), JSON.stringify(log)).toBe(!paused)
        if (paused) expect(dropped()).toMatchObject({ why: 'session_paused' })
        await console!.close()
        await performAction(fixture.operator, fixture.id, 'end')
      }
    },
  )

  test('the robot of a stopped session stays halted when the limit of the pause ends it', async () => {
    const fixture = await openSessionFixture(world)
    const console = await world.drive(fixture.operator, fixture.id)
    await console.state()
    console.control({ linear: 1 })
    await fixture.link.next('control')
    await performAction(fixture.client, fixture.id, 'emergency_stop')
    expect(await fixture.link.next('stop')).toMatchObject({ latched: true })
    clockMs += PAUSE_LIMIT_MS
    await worker.run()
    clockMs += 5 * MINUTE_MS
    await worker.run()
    expect(await read(fixture.client, fixture.id)).toMatchObject({ end_reason: 'pause_limit' })
    await fixture.link.next('stop_cleared')
    await expect
      .poll(() => fixture.link.frames.findLast(({ type }) => type === 'stop'))
      .toEqual({ type: 'stop', reason: 'session_over', latched: false })
    expect(await console.closed).toBe(4410)
    expect(fixture.link.frames.filter(({ type }) => type === 'control')).toEqual([])
  })
})

test('the platform pauses a session whose operator does not connect by default', async () => {
  const env = { OPERATOR_JOIN_MS: '500', PAUSE_LIMIT_MS: '1500' }
  await using world = await createWorld({ env })
  const fixture = await openSessionFixture(world)
  await expect
    .poll(() => read(fixture.client, fixture.id))
    .toMatchObject({ status: 'COMPLETED', end_reason: 'pause_limit', client_charge_cents: 0 })
  expect((await logOf(fixture.client, fixture.id)).map(({ type }) => type)).toEqual([
    'session.started',
    'session.paused',
    'session.pause_limit_soon',
    'session.ended',
  ])
})
