import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAbandonmentWorker } from '../src/modules/sessions/abandonment.worker.ts'
import { cast, createSilentGateway, MINUTE_MS, type SilentGateway } from './support/billing.ts'
import { act, openScene, start } from './support/cast.ts'
import { TestDriver } from './support/frame-socket.ts'
import type { Person } from './support/person.ts'
import { connectTo } from './support/sql.ts'
import { createWorld, type World } from './support/world.ts'

const JOIN_MS = 2 * MINUTE_MS
const PAUSE_LIMIT_MS = 30 * MINUTE_MS
const patience = { timeout: 10_000 }

type Entry = { type: string; data: Record<string, unknown> }
const read = async (person: Person, id: string) => (await person.get(`/api/sessions/${id}`)).body
const statusOf = async (person: Person, id: string) => (await read(person, id)).status as string
const logOf = async (person: Person, id: string): Promise<Entry[]> =>
  (await person.get(`/api/sessions/${id}/events`)).body.events
const told = async (person: Person, type: string): Promise<Entry[]> =>
  (await person.get('/api/notifications?limit=100')).body.notifications.filter(
    (one: Entry) => one.type === type,
  )

/** How many wait for a lock. */
const WAITING = `select count(*)::int from pg_stat_activity
  where wait_event_type = 'Lock' and datname = current_database()`

let clockMs = Date.parse('2026-05-10T12:00:00Z')
const now = () => new Date(clockMs)
const iso = (aheadMs: number) => new Date(clockMs + aheadMs).toISOString()
const limits = { operatorJoinMs: JOIN_MS, pauseLimitMs: PAUSE_LIMIT_MS }
/** The worker of a platform that runs none: its rounds come when the test says so. */
const workerOf = ({ platform }: World, change: Partial<typeof limits> = {}) =>
  createAbandonmentWorker({ ...platform, now, ...limits, ...change })

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
    const people = await cast(world, gateway)
    return { ...people, id: await start(people.operator, people.robotId) }
  }
  const join = (id: string) => world.platform.driving.recordJoin(id)

  describe('an operator who never comes', () => {
    test('has the session paused as operator_absent, both sides notified, and none of that time billed', async () => {
      const { owner, operator, id } = await running()
      clockMs += JOIN_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({
        ...{ status: 'PAUSED', pause_reason: 'operator_absent', billable_seconds: 0 },
      })
      expect((await logOf(owner, id)).at(-1)).toMatchObject({
        type: 'session.paused',
        data: { status: 'PAUSED', reason: 'operator_absent' },
      })
      for (const person of [owner, operator]) {
        expect(await told(person, 'session.paused')).toMatchObject([{ data: { reason: 'operator_absent' } }])
      }
      clockMs += MINUTE_MS
      await act(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ billable_seconds: 0, client_charge_cents: 0 })
      expect(await read(operator, id)).toMatchObject({ operator_earnings_cents: 0 })
    })

    test('and comes at last pays for nothing before the resumption, and for all after it', async () => {
      const { owner, operator, robotId, id } = await running()
      clockMs += JOIN_MS
      await worker.run()
      await join(id)
      clockMs += MINUTE_MS
      await act(operator, id, 'resume')
      clockMs += 3 * MINUTE_MS
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      await gateway.lose(robotId, clockMs - MINUTE_MS) // an outage of the last minute
      await act(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ billable_seconds: 120, client_charge_cents: 100 })
      expect(await read(operator, id)).toMatchObject({ operator_earnings_cents: 70 })
    })

    test('is waited for anew after a resumption; a robot lost in the pause takes nothing away', async () => {
      const { owner, operator, robotId, id } = await running()
      clockMs += JOIN_MS
      await worker.run()
      await gateway.lose(robotId, clockMs - 90_000)
      await gateway.connect(robotId)
      await act(operator, id, 'resume')
      clockMs += JOIN_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({ status: 'PAUSED', billable_seconds: 0 })
      await act(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ client_charge_cents: 0 })
    })

    test('within the time, over REST alone, is billed as ever', async () => {
      const { owner, operator, id } = await running()
      clockMs += 90_000
      await worker.run()
      await act(operator, id, 'end')
      expect(await read(owner, id)).toMatchObject({ client_charge_cents: 100 })
    })

    test('is waited for as long as it takes with 0', async () => {
      const { owner, operator, id } = await running()
      clockMs += 10 * JOIN_MS
      await workerOf(world, { operatorJoinMs: 0 }).run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      await act(operator, id, 'end')
    })
  })

  describe('a pause', () => {
    const paused = async () => {
      const scene = await running()
      await join(scene.id)
      clockMs += MINUTE_MS
      await act(scene.operator, scene.id, 'pause')
      return scene
    }

    test('is announced to both sides five minutes before its limit, once, and ends the session at it', async () => {
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
      for (const person of [owner, operator]) {
        expect(await told(person, 'session.pause_limit_soon')).toMatchObject([
          { data: { session_id: id, robot_id: robotId, ends_at } },
        ])
      }
      clockMs += 5 * MINUTE_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      clockMs += 1
      await Promise.all([worker.run(), workerOf(world).run()])
      expect(await read(owner, id)).toMatchObject({
        ...{ status: 'COMPLETED', end_reason: 'pause_limit', client_charge_cents: 50 },
      })
      expect((await logOf(owner, id)).filter(({ type }) => type === 'session.ended')).toHaveLength(1)
      expect((await owner.get(`/api/client/robots/${robotId}`)).body.status).toBe('AVAILABLE')
    })

    test('that is resumed is no longer near its limit; the next one has the whole time again', async () => {
      const { owner, operator, id } = await paused()
      clockMs += PAUSE_LIMIT_MS - MINUTE_MS
      await worker.run()
      expect(await told(owner, 'session.pause_limit_soon')).toHaveLength(1)
      await act(operator, id, 'resume')
      clockMs += MINUTE_MS
      await worker.run()
      await act(operator, id, 'pause')
      clockMs += PAUSE_LIMIT_MS - 5 * MINUTE_MS - 1
      await worker.run()
      expect(await told(owner, 'session.pause_limit_soon')).toHaveLength(1)
      clockMs += 1
      await worker.run()
      expect(await told(owner, 'session.pause_limit_soon')).toHaveLength(2)
      expect(await statusOf(owner, id)).toBe('PAUSED')
      await act(operator, id, 'end')
    })

    test('that no worker looked at is announced before it ends the session all the same', async () => {
      const { owner, id } = await paused()
      clockMs += 10 * PAUSE_LIMIT_MS
      await worker.run()
      expect(await told(owner, 'session.pause_limit_soon')).toMatchObject([
        { data: { ends_at: iso(5 * MINUTE_MS) } },
      ])
      clockMs += 5 * MINUTE_MS - 1
      await worker.run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      clockMs += 1
      await worker.run()
      expect(await read(owner, id)).toMatchObject({ status: 'COMPLETED', end_reason: 'pause_limit' })
    })

    test('with a short limit is announced a third of it ahead; with 0 it lasts', async () => {
      const { owner, operator, id } = await paused()
      const short = workerOf(world, { pauseLimitMs: 3 * MINUTE_MS })
      await workerOf(world, { pauseLimitMs: 0 }).run()
      clockMs += 2 * MINUTE_MS
      await short.run()
      expect(await told(operator, 'session.pause_limit_soon')).toMatchObject([
        { data: { ends_at: iso(MINUTE_MS) } },
      ])
      clockMs += PAUSE_LIMIT_MS
      await workerOf(world, { pauseLimitMs: 0 }).run()
      expect(await statusOf(owner, id)).toBe('PAUSED')
      await act(operator, id, 'end')
    })

    test('that is resumed at the moment of its limit is over, or the session is: never both', async () => {
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
        if (status === 'ACTIVE') await act(operator, id, 'end')
      }
    })
  })

  describe('a planned end', () => {
    const planned = async (plannedMinutes: number) => {
      const people = await cast(world, gateway)
      const reply = await people.operator.post('/api/sessions', { robotId: people.robotId, plannedMinutes })
      const id = reply.body.sessionId as string
      await join(id)
      return { ...people, id }
    }

    test('is announced to both sides five minutes ahead, once; the session goes on', async () => {
      const { owner, operator, robotId, id } = await planned(30)
      clockMs += 25 * MINUTE_MS - 1
      await worker.run()
      expect(await told(owner, 'session.planned_end_soon')).toEqual([])
      clockMs += 1
      await Promise.all([worker.run(), workerOf(world).run(), workerOf(world).run()])
      const data = { planned_minutes: 30, planned_end: iso(5 * MINUTE_MS) }
      expect((await logOf(owner, id)).slice(1)).toMatchObject([{ type: 'session.planned_end_soon', data }])
      for (const person of [owner, operator]) {
        const about = { session_id: id, robot_id: robotId, ...data }
        expect(await told(person, 'session.planned_end_soon')).toMatchObject([{ data: about }])
      }
      clockMs += 60 * MINUTE_MS
      await worker.run()
      expect(await statusOf(owner, id)).toBe('ACTIVE')
      expect(await told(owner, 'session.planned_end_soon')).toHaveLength(1)
      await act(operator, id, 'end')
    })

    test('is announced again when an extension has put it off; that of a short session half of it ahead', async () => {
      const { owner, operator, id } = await planned(4)
      clockMs += 2 * MINUTE_MS
      await worker.run()
      expect(await told(operator, 'session.planned_end_soon')).toHaveLength(1)
      await owner.post(`/api/sessions/${id}/extend`, { additionalMinutes: 10 })
      await act(operator, id, 'approve_extension')
      await worker.run()
      expect(await told(operator, 'session.planned_end_soon')).toHaveLength(1)
      clockMs += 7 * MINUTE_MS
      await worker.run()
      expect(await told(operator, 'session.planned_end_soon')).toMatchObject([
        { data: { planned_minutes: 14, planned_end: iso(5 * MINUTE_MS) } },
        { data: { planned_minutes: 4 } },
      ])
      await act(operator, id, 'end')
    })
  })

  describe('who has to look after it', () => {
    test('an admin pauses and ends any session, and that is audited; resuming is for its operator', async () => {
      const { owner, operator, id } = await running()
      const admin = await world.admin()
      const by = (action: string) => admin.patch(`/api/sessions/${id}`, { action, reason: 'left alone' })
      expect(await by('pause')).toMatchObject({ status: 200, body: { status: 'PAUSED' } })
      expect((await by('resume')).status).toBe(403)
      expect(await by('end')).toMatchObject({ status: 200, body: { status: 'COMPLETED' } })
      for (const type of ['session.paused', 'session.ended']) {
        for (const person of [owner, operator]) expect(await told(person, type)).toHaveLength(1)
      }
      const { entries } = (await admin.get(`/api/admin/audit?subject_id=${id}`)).body
      const byAdmin = entries.filter((one: { action: string }) => one.action !== 'session.charged')
      expect(byAdmin).toMatchObject([
        { action: 'session.ended', actor_id: admin.id, data: { reason: 'left alone' } },
        { action: 'session.paused', actor_id: admin.id, data: { reason: 'left alone' } },
      ])
    })

    test('what the two sides do themselves is in the log of the session alone', async () => {
      const { owner, id } = await running()
      const admin = await world.admin()
      await act(owner, id, 'pause')
      await act(owner, id, 'end')
      const { entries } = (await admin.get(`/api/admin/audit?subject_id=${id}`)).body
      expect(entries).toMatchObject([{ action: 'session.charged' }])
    })

    test('the owner ends a session whose operator left it paused, and has the robot back', async () => {
      const { owner, operator, robotId, id } = await running()
      await act(operator, id, 'pause')
      expect(await act(owner, id, 'end')).toMatchObject({ status: 'COMPLETED' })
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

  test('an operator whose control socket has connected is not absent, however little they drive', async () => {
    const scene = await openScene(world)
    const console = await world.drive(scene.operator, scene.id)
    await console.state()
    clockMs += 10 * JOIN_MS
    await worker.run()
    expect(await statusOf(scene.client, scene.id)).toBe('ACTIVE')
    console.control({ linear: 1 })
    expect(await scene.link.next('control')).toMatchObject({ data: { linear: 1 } })
    await act(scene.operator, scene.id, 'end')
  })

  test.each(['operator', 'worker'] as const)(
    'an operator who connects as the session is paused for their absence drives, or it is: %s first',
    async (first) => {
      await using database = await connectTo(world.database.url)
      await using monitor = await connectTo(world.database.url) // a transaction sees the activity of its first look
      const waiting = async () => (await monitor.query(WAITING)).rows[0].count
      for (let round = 0; round < 5; round++) {
        const scene = await openScene(world)
        clockMs += JOIN_MS
        const { url, ticket } = (await scene.operator.post(`${scene.path}/ticket`, { part: 'control' })).body
        await database.query('begin')
        await database.query('select from sessions where id = $1 for update', [scene.id])
        let console: TestDriver | undefined
        const work: Promise<unknown>[] = []
        const begin = {
          operator: () => {
            console = new TestDriver(url, ticket)
          },
          worker: () => work.push(worker.run()),
        }
        // Both wait for the row in this order; then they go on at once.
        begin[first]()
        await expect.poll(waiting, patience).toBe(1)
        begin[first === 'operator' ? 'worker' : 'operator']()
        await expect.poll(waiting, patience).toBe(2)
        await database.query('commit')
        await console!.state()
        console!.control({ round })
        const came = () => scene.link.frames.some(({ type }) => type === 'control')
        const dropped = () => console!.frames.find(({ type }) => type === 'dropped')
        await expect.poll(() => came() || dropped() !== undefined, patience).toBe(true)
        await Promise.all([...work, worker.run()])
        const log = await logOf(scene.client, scene.id)
        const paused = log.some(({ data }) => data.reason === 'operator_absent')
        expect(paused).toBe(first === 'worker')
        expect(came(), JSON.stringify(log)).toBe(!paused)
        if (paused) expect(dropped()).toMatchObject({ why: 'session_paused' })
        await console!.close()
        await act(scene.operator, scene.id, 'end')
      }
    },
  )

  test('the robot of a stopped session stays halted when the limit of the pause ends it', async () => {
    const scene = await openScene(world)
    const console = await world.drive(scene.operator, scene.id)
    await console.state()
    console.control({ linear: 1 })
    await scene.link.next('control')
    await act(scene.client, scene.id, 'emergency_stop')
    expect(await scene.link.next('stop')).toMatchObject({ latched: true })
    clockMs += PAUSE_LIMIT_MS
    await worker.run()
    clockMs += 5 * MINUTE_MS
    await worker.run()
    expect(await read(scene.client, scene.id)).toMatchObject({ end_reason: 'pause_limit' })
    await scene.link.next('stop_cleared')
    await expect
      .poll(() => scene.link.frames.findLast(({ type }) => type === 'stop'), patience)
      .toEqual({ type: 'stop', reason: 'session_over', latched: false })
    expect(await console.closed).toBe(4410)
    expect(scene.link.frames.filter(({ type }) => type === 'control')).toEqual([])
  })
})

test('by default the platform itself pauses a session whose operator does not come', async () => {
  const env = { OPERATOR_JOIN_MS: '500', PAUSE_LIMIT_MS: '1500' }
  await using world = await createWorld({ env })
  const scene = await openScene(world)
  await expect
    .poll(() => read(scene.client, scene.id), patience)
    .toMatchObject({ status: 'COMPLETED', end_reason: 'pause_limit', client_charge_cents: 0 })
  expect((await logOf(scene.client, scene.id)).map(({ type }) => type)).toEqual([
    ...['session.started', 'session.paused', 'session.pause_limit_soon', 'session.ended'],
  ])
})
