import { SessionAction, SessionStatus } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

type Status = SessionStatus

const SESSIONS = '/api/sessions'
const HOUR_MS = 3_600_000

const nowhere = { PENDING: 409, ACTIVE: 409, PAUSED: 409, COMPLETED: 409, CANCELLED: 409 } as const

/**
 * Every action: the roles that may perform it, its response in each state (the resulting state, or 409), and the
 * log entry it appends. Admins see a session but do not take part in it: they receive 403, unless they pause, end or
 * stop it, or clear a stop.
 * Strangers do not see it and receive 404. In this table no stop is latched and no extension request is pending.
 */
const table: Record<
  SessionAction,
  { may: readonly ('operator' | 'client' | 'admin')[]; from: Record<Status, Status | 409>; event: string }
> = {
  start: {
    may: ['operator'],
    from: { PENDING: 'ACTIVE', ACTIVE: 409, PAUSED: 409, COMPLETED: 409, CANCELLED: 409 },
    event: 'session.started',
  },
  pause: {
    may: ['operator', 'client', 'admin'],
    from: { PENDING: 409, ACTIVE: 'PAUSED', PAUSED: 409, COMPLETED: 409, CANCELLED: 409 },
    event: 'session.paused',
  },
  resume: {
    may: ['operator'],
    from: { PENDING: 409, ACTIVE: 409, PAUSED: 'ACTIVE', COMPLETED: 409, CANCELLED: 409 },
    event: 'session.resumed',
  },
  end: {
    may: ['operator', 'client', 'admin'],
    from: { PENDING: 409, ACTIVE: 'COMPLETED', PAUSED: 'COMPLETED', COMPLETED: 409, CANCELLED: 409 },
    event: 'session.ended',
  },
  cancel: {
    may: ['operator', 'client'],
    from: { PENDING: 'CANCELLED', ACTIVE: 409, PAUSED: 409, COMPLETED: 409, CANCELLED: 409 },
    event: 'session.cancelled',
  },
  emergency_stop: {
    may: ['operator', 'client', 'admin'],
    from: { PENDING: 409, ACTIVE: 'PAUSED', PAUSED: 'PAUSED', COMPLETED: 409, CANCELLED: 409 },
    event: 'session.stopped',
  },
  clear_stop: { may: ['operator', 'client', 'admin'], from: nowhere, event: 'session.stop_cleared' },
  request_clear_stop: { may: ['operator'], from: nowhere, event: 'session.stop_clear_requested' },
  approve_extension: { may: ['operator'], from: nowhere, event: 'extension.approved' },
  decline_extension: { may: ['operator'], from: nowhere, event: 'extension.declined' },
}
/** Lists the actions that lead to a state, after scheduling (for PENDING and CANCELLED) or starting. */
const pathTo: Record<Status, readonly SessionAction[]> = {
  PENDING: [],
  ACTIVE: [],
  PAUSED: ['pause'],
  COMPLETED: ['end'],
  CANCELLED: ['cancel'],
}

let world: World
let clockMs = Date.now()
let actors: Fixtures
interface Fixtures {
  readonly operator: TestUser
  readonly client: TestUser
  readonly admin: TestUser
  readonly stranger: TestUser
  readonly robotId: string
}
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
  const client = await world.client()
  const robot = await world.robot(client)
  // Sessions also end under stops of the owner, and the robot must accept the next session.
  await client.patch(`/api/client/robots/${robot.id}`, { stop_clear: 'anyone' })
  ;(await world.connect(robot)).beat()
  const users = { client, operator: await world.operator(), admin: await world.admin() }
  actors = { ...users, stranger: await world.operator(), robotId: robot.id }
})
afterAll(() => world[Symbol.asyncDispose]())

const performAction = (user: TestUser, id: string, action: string, reason?: string) =>
  user.patch(`${SESSIONS}/${id}`, { action, ...(reason !== undefined && { reason }) })
const read = async (user: TestUser, id: string) => (await user.get(`${SESSIONS}/${id}`)).body
const log = async (user: TestUser, id: string) => (await user.get(`${SESSIONS}/${id}/events`)).body.events
const robotOf = async (owner: TestUser, id: string) => (await owner.get(`/api/client/robots/${id}`)).body
const newestId = async (user: TestUser) =>
  Number((await user.get('/api/notifications?limit=1')).body.notifications[0]?.id ?? 0)
const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

async function create(
  operator: TestUser,
  robotId: string,
  scheduled = false,
  hoursAhead = 1,
): Promise<string> {
  const scheduledFor = new Date(clockMs + hoursAhead * HOUR_MS).toISOString()
  const reply = await operator.post(SESSIONS, { robotId, ...(scheduled && { scheduledFor }) })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.sessionId
}

async function sessionIn(status: Status, { operator, robotId }: Fixtures): Promise<string> {
  const id = await create(operator, robotId, status === 'PENDING' || status === 'CANCELLED')
  for (const action of pathTo[status]) await performAction(operator, id, action)
  expect((await read(operator, id)).status).toBe(status)
  return id
}

/** Ends a session, so that its robot and operator are free for the next one. */
async function endSession(operator: TestUser, id: string): Promise<void> {
  await performAction(operator, id, 'end')
  await performAction(operator, id, 'cancel')
}

test('the table covers every action and every state', () => {
  expect(Object.keys(table).sort()).toEqual(SessionAction.options.toSorted())
  expect(Object.keys(pathTo).sort()).toEqual(SessionStatus.options.toSorted())
})

describe.each(SessionStatus.options)('a session that is %s', (status) => {
  test('rejects actions that are impossible or not allowed, and remains unchanged', async () => {
    const id = await sessionIn(status, actors)
    const before = { session: await read(actors.operator, id), log: await log(actors.operator, id) }
    const robot = (await robotOf(actors.client, actors.robotId)).status
    const statuses: Record<string, number> = {}
    const expected: Record<string, number> = {}
    for (const action of SessionAction.options) {
      for (const who of ['operator', 'client', 'admin', 'stranger'] as const) {
        const { may, from } = table[action]
        const allowed = (may as readonly string[]).includes(who)
        if (allowed && from[status] !== 409) continue
        const reply = await performAction(actors[who], id, action)
        statuses[`${who} ${action}`] = reply.status
        expected[`${who} ${action}`] = who === 'stranger' ? 404 : allowed ? 409 : 403
        expect(reply.body).toEqual({ error: expect.any(String) })
      }
    }
    expect(statuses).toEqual(expected)
    expect({ session: await read(actors.operator, id), log: await log(actors.operator, id) }).toEqual(before)
    expect((await robotOf(actors.client, actors.robotId)).status).toBe(robot)
    await endSession(actors.operator, id)
  })

  const possible = SessionAction.options.flatMap((action) =>
    table[action].may.map((who) => ({ action, who, to: table[action].from[status] })),
  )
  for (const { action, who, to } of possible.filter((step) => step.to !== 409)) {
    test(`becomes ${to} when its ${who} performs ${action}`, async () => {
      const id = await sessionIn(status, actors)
      const before = await log(actors.operator, id)
      const known = { client: await newestId(actors.client), operator: await newestId(actors.operator) }
      const reply = await performAction(actors[who], id, action, 'because')

      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({ id, status: to })
      expect(reply.body).toEqual(await read(actors[who], id))
      const events = await log(actors.operator, id)
      expect(events.slice(0, -1)).toEqual(before)
      const reason = action === 'start' ? {} : { reason: 'because' } // a start stores no reason
      expect(events.at(-1)).toMatchObject({
        session_id: id,
        seq: before.length + 1,
        type: table[action].event,
        data: { status: to, actor_id: actors[who].id, ...reason },
        at: new Date(clockMs).toISOString(),
      })
      const robot = await robotOf(actors.client, actors.robotId)
      expect(robot.status).toBe(to === 'ACTIVE' || to === 'PAUSED' ? 'IN_SESSION' : 'AVAILABLE')

      const notified = async (user: TestUser, after: number) => {
        const { notifications } = (await user.get('/api/notifications')).body
        const fresh = notifications.filter((item: { id: string }) => Number(item.id) > after)
        return fresh.map((item: { type: string }) => item.type)
      }
      // The platform notifies both sides of a start, an end and a stop, and otherwise the side that did not act.
      const both = ['start', 'end', 'emergency_stop'].includes(action)
      const { event } = table[action]
      expect(await notified(actors.client, known.client)).toEqual(both || who !== 'client' ? [event] : [])
      expect(await notified(actors.operator, known.operator)).toEqual(
        both || who !== 'operator' ? [event] : [],
      )
      await endSession(actors.operator, id)
    })
  }
})

test('the log contains every transition in order, numbered from 1 without gaps', async () => {
  const { operator, client, robotId } = actors
  const id = await create(operator, robotId, true)
  await performAction(operator, id, 'start')
  await performAction(client, id, 'pause', 'lunch')
  await performAction(operator, id, 'pause') // rejected: uses no number
  await performAction(operator, id, 'resume')
  await performAction(operator, id, 'pause')
  await performAction(client, id, 'end')

  const events = await log(client, id)
  expect(events.map((event: { seq: number }) => event.seq)).toEqual(numbersTo(6))
  expect(events.map(({ type, data }: { type: string; data: object }) => ({ type, ...data }))).toEqual([
    { type: 'session.scheduled', status: 'PENDING', actor_id: operator.id },
    { type: 'session.started', status: 'ACTIVE', actor_id: operator.id },
    { type: 'session.paused', status: 'PAUSED', actor_id: client.id, reason: 'lunch' },
    { type: 'session.resumed', status: 'ACTIVE', actor_id: operator.id },
    { type: 'session.paused', status: 'PAUSED', actor_id: operator.id },
    { type: 'session.ended', status: 'COMPLETED', actor_id: client.id },
  ])
  for (const event of events) expect(Object.keys(event).sort()).toEqual(EVENT_FIELDS)
  expect(await log(operator, id)).toEqual(events)
  expect(await log(actors.admin, id)).toEqual(events)
  const page = await operator.get(`${SESSIONS}/${id}/events?after=2&limit=3`)
  expect(page.body.events).toEqual(events.slice(2, 5))
  expect((await operator.get(`${SESSIONS}/${id}/events?after=6`)).body).toEqual({ events: [] })
  for (const query of ['after=-1', 'after=x', 'limit=0', 'limit=201', 'limit=', 'from=1']) {
    expect((await operator.get(`${SESSIONS}/${id}/events?${query}`)).status, query).toBe(400)
  }
  expect(await actors.stranger.get(`${SESSIONS}/${id}/events`)).toMatchObject({ status: 404 })
})
const EVENT_FIELDS = ['session_id', 'seq', 'type', 'data', 'at'].sort()

test.each([
  ['action', {}],
  ['action', { action: 'explode' }],
  ['action', { action: 'PAUSE' }],
  ['reason', { action: 'pause', reason: 'a'.repeat(501) }],
  ['reason', { action: 'pause', reason: 'a\0b' }],
  ['reason', { action: 'pause', reason: '\udfff' }],
  ['reason', { action: 'pause', reason: null }],
  ['status', { status: 'COMPLETED' }],
])('a PATCH returns 400 naming %s for %j', async (field, body) => {
  const id = await create(actors.operator, actors.robotId)
  const reply = await actors.operator.patch(`${SESSIONS}/${id}`, body)
  expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  expect((await read(actors.operator, id)).status).toBe('ACTIVE')
  await endSession(actors.operator, id)
})

describe('pauses', () => {
  test('add up, continue while PAUSED and end with the session', async () => {
    const { operator, robotId } = actors
    const id = await create(operator, robotId)
    const pausedSeconds = async () => (await read(operator, id)).paused_seconds
    clockMs += 10_000
    expect(await pausedSeconds()).toBe(0)

    await performAction(operator, id, 'pause', 'coffee')
    expect(await read(operator, id)).toMatchObject({ paused_seconds: 0, pause_reason: 'coffee' })
    clockMs += 30_500
    expect(await pausedSeconds()).toBe(30)
    const resumed = await performAction(operator, id, 'resume')
    expect(resumed.body).toMatchObject({ paused_seconds: 30, pause_reason: null })
    clockMs += 60_000
    expect(await pausedSeconds()).toBe(30)

    await performAction(operator, id, 'pause')
    expect((await read(operator, id)).pause_reason).toBe('requested')
    clockMs += 15_700
    expect(await pausedSeconds()).toBe(46) // 30.5 + 15.7: fractions of seconds add up
    const ended = await performAction(operator, id, 'end')
    expect(ended.body).toMatchObject({ paused_seconds: 46, pause_reason: null, duration_minutes: 2 })
    clockMs += HOUR_MS
    expect(await read(operator, id)).toMatchObject({ paused_seconds: 46, duration_minutes: 2 })
  })

  test('are not shortened by a clock that is set back, and a session never ends before it starts', async () => {
    const { operator, robotId } = actors
    const id = await create(operator, robotId)
    clockMs += 5_000
    await performAction(operator, id, 'pause')
    clockMs += 20_000
    await performAction(operator, id, 'resume')
    await performAction(operator, id, 'pause')
    clockMs -= 60_000
    expect((await read(operator, id)).paused_seconds).toBe(20)
    const ended = (await performAction(operator, id, 'end')).body
    expect(ended.paused_seconds).toBe(20)
    expect(ended.ended_at).toBe(ended.started_at)
    clockMs += 60_000
  })

  test('halt the robot', async () => {
    const { operator, client } = actors
    const robot = await world.robot(client)
    const link = (await world.connect(robot)).beat()
    const id = await create(operator, robot.id)
    expect(await link.next('session')).toMatchObject({ session_id: id, status: 'ACTIVE' })
    await performAction(client, id, 'pause')
    expect(await link.next('session')).toMatchObject({ session_id: id, status: 'PAUSED' })
    await link.next('stop')
    await performAction(operator, id, 'resume')
    expect(await link.next('session')).toMatchObject({ session_id: id, status: 'ACTIVE' })
    await endSession(operator, id)
  })
})

describe('a robot that is lost during its session', () => {
  test('pauses it and notifies both sides; only the operator resumes it, after the robot is back', async () => {
    const { operator, client } = actors
    const robot = await world.robot(client)
    const link = (await world.connect(robot)).beat()
    const id = await create(operator, robot.id)
    link.destroy()
    await expect.poll(async () => (await read(client, id)).status).toBe('PAUSED')
    expect(await read(client, id)).toMatchObject({ pause_reason: 'robot_lost' })
    expect((await robotOf(client, robot.id)).status).toBe('IN_SESSION')
    for (const user of [client, operator]) {
      const [newest] = (await user.get('/api/notifications')).body.notifications
      expect(newest).toMatchObject({ type: 'robot.lost', data: { session_id: id, reason: 'robot_lost' } })
      expect(Date.parse(newest.data.ends_at) - clockMs).toBe(60_000)
    }
    const refused = await performAction(operator, id, 'resume')
    expect(refused.status).toBe(409)
    expect(refused.body).toEqual({ error: expect.stringContaining('offline') })

    ;(await world.connect(robot)).beat()
    const types = async () => (await log(client, id)).map((event: { type: string }) => event.type)
    await expect.poll(types).toEqual(['session.started', 'robot.lost', 'robot.back'])
    expect((await read(client, id)).status).toBe('PAUSED')
    expect(await performAction(operator, id, 'resume')).toMatchObject({
      status: 200,
      body: { status: 'ACTIVE' },
    })
    await performAction(operator, id, 'end')
    expect((await robotOf(client, robot.id)).status).toBe('AVAILABLE')
    expect((await log(client, id)).map((event: { seq: number }) => event.seq)).toEqual(numbersTo(5))
  })

  test('counts the whole time in which the robot was offline, also the pause', async () => {
    const { operator, client } = actors
    const robot = await world.robot(client)
    const link = (await world.connect(robot)).beat()
    const id = await create(operator, robot.id)
    expect(await read(client, id)).toMatchObject({ robot_offline_seconds: 0 })
    link.destroy()
    await expect.poll(async () => (await read(client, id)).status).toBe('PAUSED')
    clockMs += 19_000
    const { outage_seconds: outage } = await read(client, id)
    expect((await read(client, id)).robot_offline_seconds).toBeGreaterThanOrEqual(19)
    ;(await world.connect(robot)).beat()
    const back = async () =>
      (await log(client, id)).find(({ type }: { type: string }) => type === 'robot.back')
    await expect.poll(back).toMatchObject({ data: { offline_seconds: 19 } })
    clockMs += 30_000
    await performAction(operator, id, 'end')
    const ended = await read(client, id)
    expect(ended.outage_seconds).toBe(outage)
    expect(ended.robot_offline_seconds).toBeGreaterThanOrEqual(19)
    expect(ended.robot_offline_seconds).toBeLessThanOrEqual(19 + outage)
  })

  test('ends it when the robot stays away longer than the grace period', async () => {
    const { operator, client } = actors
    const robot = await world.robot(client)
    const link = (await world.connect(robot)).beat()
    const id = await create(operator, robot.id)
    link.destroy()
    await expect.poll(async () => (await read(client, id)).status).toBe('PAUSED')

    clockMs += 61_000
    await expect.poll(async () => (await read(client, id)).status).toBe('COMPLETED')
    expect(await read(client, id)).toMatchObject({ end_reason: 'robot_lost', paused_seconds: 61 })
    expect((await robotOf(client, robot.id)).status).toBe('OFFLINE')
    const [, lost, ended] = await log(client, id)
    expect(lost).toMatchObject({ type: 'robot.lost', data: { status: 'PAUSED', reason: 'robot_lost' } })
    expect(ended).toMatchObject({
      type: 'session.ended',
      data: { status: 'COMPLETED', reason: 'robot_lost' },
    })
    for (const { data } of [lost, ended]) expect(data).not.toHaveProperty('actor_id')
  })

  test('allows a participant to end the session; the robot is then OFFLINE', async () => {
    const { operator, client } = actors
    const robot = await world.robot(client)
    const link = (await world.connect(robot)).beat()
    const id = await create(operator, robot.id)
    await performAction(operator, id, 'pause', 'mine')
    link.destroy()
    await expect.poll(async () => (await log(client, id)).at(-1).type).toBe('robot.lost')
    expect((await read(client, id)).pause_reason).toBe('mine') // the session was already paused

    expect(await performAction(client, id, 'end')).toMatchObject({
      status: 200,
      body: { end_reason: 'ended' },
    })
    expect((await robotOf(client, robot.id)).status).toBe('OFFLINE')
  })
})

describe('a scheduled session', () => {
  test('can be cancelled without charge and without effect on the robot', async () => {
    const { operator, client, robotId } = actors
    const id = await create(operator, robotId, true)
    clockMs += 1_000
    const { body } = await performAction(client, id, 'cancel')
    expect(body).toMatchObject({
      status: 'CANCELLED',
      started_at: null,
      ended_at: new Date(clockMs).toISOString(),
      duration_minutes: null,
      client_charge_cents: null,
      end_reason: 'cancelled',
    })
    expect((await robotOf(client, robotId)).status).toBe('AVAILABLE')
  })

  test('cannot start while the robot is in a session or offline, or its operator is busy, and remains PENDING', async () => {
    const { operator, client, stranger, robotId } = actors
    const other = await world.robot(client)
    const link = (await world.connect(other)).beat()
    const id = await create(operator, robotId, true)
    const onOther = await create(operator, other.id, true, 2)
    const refused = async (session: string) => {
      const reply = await performAction(operator, session, 'start')
      expect(reply).toMatchObject({ status: 409, body: { error: expect.any(String) } })
      expect((await read(operator, session)).status).toBe('PENDING')
    }

    const taken = await create(stranger, robotId)
    await refused(id)
    await endSession(stranger, taken)
    const busy = await create(operator, robotId)
    await refused(onOther)
    await endSession(operator, busy)
    await link.close()
    const status = async () => (await robotOf(client, other.id)).status
    await expect.poll(status).toBe('OFFLINE')
    await refused(onOther)

    expect(await performAction(operator, id, 'start')).toMatchObject({
      status: 200,
      body: { status: 'ACTIVE' },
    })
    await endSession(operator, id)
    await endSession(operator, onOther)
  })
})
