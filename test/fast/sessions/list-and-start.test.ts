import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SESSIONS = '/api/sessions'
/** The fields of the specification's Session that both sides see. */
const SHARED = [
  'id',
  'status',
  'started_at',
  'ended_at',
  'duration_minutes',
  'client_charge_cents',
  'rating',
  'created_at',
  'robot_id',
  'robot_name',
  'robot_type',
  'operator_name',
]
const CLIENT_VIEW = [...SHARED, 'episodes_collected', 'data_collected_mb'].sort()
const OPERATOR_VIEW = [...SHARED, 'operator_earnings_cents'].sort()
/** The additional fields of a single session. */
const DETAILS = [
  'scheduled_for',
  'planned_minutes',
  'paused_seconds',
  'pause_reason',
  'ends_at',
  'rating_comment',
  'end_reason',
  'control',
  'latency',
  'control_schema',
  'telemetry_schema',
  'operator_id',
  'client_id',
  'rate_cents_per_minute',
  'billable_seconds',
  'stream_url',
  'planned_end',
  'outage_seconds',
  'robot_offline_seconds',
]
/** The additional field for the operator. */
const OPERATOR_DETAILS = [...DETAILS, 'operator_share_percent', 'earnings_pending_until']
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const HOUR_MS = 3_600_000

let world: World
/** Advances with each read, so that "newest first" is unambiguous; tests advance it further. */
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs++) })
})
afterAll(() => world[Symbol.asyncDispose]())

const start = (operator: TestUser, robot: { id: string }, more: Record<string, unknown> = {}) =>
  operator.post(SESSIONS, { robotId: robot.id, ...more })
const end = (operator: TestUser, sessionId: string) =>
  operator.patch(`${SESSIONS}/${sessionId}`, { action: 'end' })
const inHours = (count: number) => new Date(clockMs + count * HOUR_MS).toISOString()
const inAnHour = () => inHours(1)
const idsOf = (reply: Reply) => reply.body.sessions.map((session: { id: string }) => session.id)
const fieldsOf = (body: object) => Object.keys(body).sort()

async function onlineRobot(owner: TestUser, input: Record<string, unknown> = {}) {
  const robot = await world.robot(owner, input)
  const link = (await world.connect(robot)).beat()
  return { ...robot, link }
}
async function actors() {
  const [owner, operator] = await Promise.all([world.client(), world.operator()])
  return { owner, operator, robot: await onlineRobot(owner) }
}

describe('the views', () => {
  test('client and operator see exactly their fields, in the list and in the detail', async () => {
    const { owner, operator, robot } = await actors()
    const { sessionId } = (await start(operator, robot)).body
    const expectViews = async () => {
      for (const [user, fields] of [
        [owner, CLIENT_VIEW],
        [operator, OPERATOR_VIEW],
      ] as const) {
        const list = await user.get(SESSIONS)
        expect(list.status).toBe(200)
        expect(Object.keys(list.body)).toEqual(['sessions'])
        expect(list.body.sessions).toHaveLength(1)
        expect(fieldsOf(list.body.sessions[0])).toEqual(fields)
        const withoutSubprotocol = await user.get(`${SESSIONS}/${sessionId}`)
        expect(withoutSubprotocol.status).toBe(200)
        const details = user === operator ? OPERATOR_DETAILS : DETAILS
        expect(fieldsOf(withoutSubprotocol.body)).toEqual([...fields, ...details].sort())
      }
    }
    await expectViews()
    await end(operator, sessionId)
    await expectViews()
  })

  test("the operator sees the robot's video address while the session is open, the owner always", async () => {
    const { owner, operator, robot } = await actors()
    const stream_url = 'http://camera.example/robot'
    await owner.patch(`/api/client/robots/${robot.id}`, { stream_url })
    const { sessionId } = (await start(operator, robot)).body
    const seenBy = async (user: typeof owner) => (await user.get(`${SESSIONS}/${sessionId}`)).body.stream_url
    expect([await seenBy(owner), await seenBy(operator)]).toEqual([stream_url, stream_url])
    await end(operator, sessionId)
    expect([await seenBy(owner), await seenBy(operator)]).toEqual([stream_url, null])
  })

  test('show a session from its start to its end', async () => {
    const { owner, operator, robot } = await actors()
    const { sessionId } = (await start(operator, robot)).body
    const running = (await owner.get(`${SESSIONS}/${sessionId}`)).body
    expect(running).toEqual({
      id: sessionId,
      status: 'ACTIVE',
      robot_id: robot.id,
      robot_type: 'testbot',
      robot_name: expect.stringMatching(/^Robot /),
      operator_name: operator.name,
      started_at: expect.stringMatching(ISO),
      ended_at: null,
      duration_minutes: 1,
      rating: null,
      client_charge_cents: null,
      created_at: running.started_at,
      scheduled_for: null,
      episodes_collected: 0,
      data_collected_mb: 0,
      planned_minutes: null,
      planned_end: null,
      paused_seconds: 0,
      pause_reason: null,
      ends_at: null,
      rating_comment: null,
      end_reason: null,
      control: { connected: true, operator_joined: false, operator_gone_since: null, stop: null },
      latency: null,
      control_schema: null,
      telemetry_schema: null,
      stream_url: null,
      operator_id: operator.id,
      client_id: owner.id,
      rate_cents_per_minute: 50,
      billable_seconds: 1,
      outage_seconds: 0,
      robot_offline_seconds: 0,
    })

    clockMs += 90_000
    const later = (await owner.get(`${SESSIONS}/${sessionId}`)).body
    expect(later).toMatchObject({ duration_minutes: 2, billable_seconds: 91 })
    clockMs += 60_000
    const ended = (await end(operator, sessionId)).body
    expect(ended).toMatchObject({ status: 'COMPLETED', duration_minutes: 3, end_reason: 'ended' })
    expect(ended).toMatchObject({ client_charge_cents: 150, operator_earnings_cents: 105 })
    const lengthMs = Date.parse(ended.ended_at) - Date.parse(ended.started_at)
    expect(lengthMs).toBeGreaterThanOrEqual(150_000)
    expect(lengthMs).toBeLessThan(152_000)
    clockMs += HOUR_MS
    expect((await owner.get(`${SESSIONS}/${sessionId}`)).body).toMatchObject({
      ended_at: ended.ended_at,
      duration_minutes: 3,
      client_charge_cents: 150,
    })
  })

  test('an owner who is also the operator, and an admin, see the client’s view', async () => {
    const owner = await world.client()
    await owner.post('/api/auth/profile', { role: 'operator' })
    const robot = await onlineRobot(owner)
    const { sessionId } = (await start(owner, robot)).body

    expect(fieldsOf((await owner.get(SESSIONS)).body.sessions[0])).toEqual(CLIENT_VIEW)
    const admin = await world.admin()
    const seen = await admin.get(`${SESSIONS}/${sessionId}`)
    expect(fieldsOf(seen.body)).toEqual([...CLIENT_VIEW, ...DETAILS].sort())
    await end(owner, sessionId)
  })

  test('other users receive 404 as for a session that does not exist, and an empty list', async () => {
    const { operator, robot } = await actors()
    const { sessionId } = (await start(operator, robot)).body
    for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
      const foreign = await user.get(`${SESSIONS}/${sessionId}`)
      const unknown = await user.get(`${SESSIONS}/${randomUUID()}`)
      expect(foreign).toMatchObject({ status: 404, body: { error: 'Session not found' } })
      expect(foreign.body).toEqual(unknown.body)
      expect((await user.get(SESSIONS)).body).toEqual({ sessions: [] })
    }
  })
})

describe('the list', () => {
  test('is newest first and pages with limit and offset', async () => {
    const { owner, operator, robot } = await actors()
    const ids: string[] = []
    for (let count = 0; count < 55; count++) {
      ids.unshift((await start(operator, robot, { scheduledFor: inHours(1 + 2 * count) })).body.sessionId)
    }
    for (const user of [owner, operator]) {
      expect(idsOf(await user.get(SESSIONS))).toEqual(ids.slice(0, 50)) // the default page
      expect(idsOf(await user.get(`${SESSIONS}?limit=100`))).toEqual(ids)
      expect(idsOf(await user.get(`${SESSIONS}?limit=1`))).toEqual(ids.slice(0, 1))
      expect(idsOf(await user.get(`${SESSIONS}?offset=50`))).toEqual(ids.slice(50))
      expect(idsOf(await user.get(`${SESSIONS}?limit=20&offset=20`))).toEqual(ids.slice(20, 40))
      expect(idsOf(await user.get(`${SESSIONS}?offset=55`))).toEqual([])
      expect(idsOf(await user.get(`${SESSIONS}?offset=1000000`))).toEqual([])
    }
  })

  test('filters by status', async () => {
    const { owner, operator, robot } = await actors()
    const ended = (await start(operator, robot)).body.sessionId
    await end(operator, ended)
    const cancelled = (await start(operator, robot, { scheduledFor: inAnHour() })).body.sessionId
    await operator.patch(`${SESSIONS}/${cancelled}`, { action: 'cancel' })
    const pending = (await start(operator, robot, { scheduledFor: inAnHour() })).body.sessionId
    const open = (await start(operator, robot)).body.sessionId
    const listed = async (status: string) => idsOf(await owner.get(`${SESSIONS}?status=${status}`))

    expect(await listed('COMPLETED')).toEqual([ended])
    expect(await listed('CANCELLED')).toEqual([cancelled])
    expect(await listed('PENDING')).toEqual([pending])
    expect(await listed('ACTIVE')).toEqual([open])
    expect(await listed('PAUSED')).toEqual([])
    await operator.patch(`${SESSIONS}/${open}`, { action: 'pause' })
    expect(await listed('PAUSED')).toEqual([open])
    expect(await listed('ACTIVE')).toEqual([])
    expect(idsOf(await owner.get(SESSIONS))).toEqual([open, pending, cancelled, ended])
    expect(idsOf(await operator.get(`${SESSIONS}?status=PENDING&limit=1&offset=0`))).toEqual([pending])
    await end(operator, open)
  })

  test('filters by robot and by the time of creation, page by page', async () => {
    const { owner, operator, robot } = await actors()
    const other = await onlineRobot(owner)
    const made: { id: string; robotId: string; at: string }[] = []
    for (const which of [robot, other, robot, other, robot]) {
      clockMs += 60_000
      const scheduledFor = inHours(1 + 2 * made.length)
      const id = (await start(operator, which, { scheduledFor })).body.sessionId
      const at = (await operator.get(`${SESSIONS}/${id}`)).body.created_at
      made.unshift({ id, robotId: which.id, at })
    }
    const on = made.filter(({ robotId }) => robotId === robot.id).map(({ id }) => id)
    await owner.post('/api/auth/profile', { role: 'operator' })
    for (const user of [operator, owner]) {
      const listed = async (query: string) => idsOf(await user.get(`${SESSIONS}?${query}`))
      expect(await listed(`robotId=${robot.id}`)).toEqual(on)
      expect(await listed(`robotId=${robot.id}&limit=1&offset=1`)).toEqual(on.slice(1, 2))
      expect(await listed(`robotId=${randomUUID()}`)).toEqual([])
      const between = `from=${made[3]?.at}&to=${made[1]?.at}`
      expect(await listed(between)).toEqual(made.slice(2, 4).map(({ id }) => id))
      expect(await listed(`${between}&robotId=${other.id}&status=PENDING`)).toEqual([made[3]?.id])
    }
  })

  test('shows a user who is client and operator the sessions of both roles, each once', async () => {
    const both = await world.client()
    await both.post('/api/auth/profile', { role: 'operator' })
    const other = await actors()
    const own = await onlineRobot(both)
    const onOwn = (await start(other.operator, own)).body.sessionId
    const driven = (await start(both, other.robot)).body.sessionId
    await end(both, driven)
    await end(other.operator, onOwn)
    const self = (await start(both, own)).body.sessionId
    await end(both, self)

    const { sessions } = (await both.get(SESSIONS)).body
    expect(sessions.map((session: { id: string }) => session.id)).toEqual([self, driven, onOwn])
    expect(fieldsOf(sessions[1])).toEqual(OPERATOR_VIEW)
    expect(fieldsOf(sessions[2])).toEqual(CLIENT_VIEW)
  })

  test.each([
    ...['0', '101', 'abc', '1.5', '', '-1', '+5', '1e1', '0x10', ' 5', '5 ', '99999999999', 'NaN'].map(
      (value) => ['limit', `limit=${encodeURIComponent(value)}`],
    ),
    ...['-1', 'abc', '1.5', '', '99999999999'].map((value) => ['offset', `offset=${value}`]),
    ...['OPEN', 'active', '', 'ACTIVE,PAUSED'].map((value) => ['status', `status=${value}`]),
    ['limit', 'limit=1&limit=2'],
    ...['robot-1', ''].map((value) => ['robotId', `robotId=${value}`]),
    ...['yesterday', '2026-01-01'].map((value) => ['from', `from=${value}`]),
    ['to', 'from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'],
    ['page', 'page=2'],
  ])('returns 400 naming %s for ?%s', async (field, query) => {
    const reply = await (await anyOperator()).get(`${SESSIONS}?${query}`)
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ error: expect.stringContaining(field as string) })
  })

  let operatorOnce: Promise<TestUser> | undefined
  const anyOperator = () => {
    operatorOnce ??= world.operator()
    return operatorOnce
  }
})

describe('starting', () => {
  test('returns 201 ACTIVE, claims the robot, notifies the client and counts the robot’s hours', async () => {
    const { owner, operator, robot } = await actors()
    const reply = await start(operator, robot)
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({ sessionId: expect.any(String), status: 'ACTIVE' })
    const { sessionId } = reply.body

    const busy = (await owner.get(`/api/client/robots/${robot.id}`)).body
    expect(busy).toMatchObject({ status: 'IN_SESSION', total_hours: 0 })
    expect((await owner.get('/api/notifications')).body.notifications).toMatchObject([
      { type: 'session.started', data: { session_id: sessionId, robot_id: robot.id, robot_name: busy.name } },
    ])
    expect((await operator.get('/api/notifications')).body.notifications).toEqual([])

    clockMs += 1.5 * HOUR_MS
    await end(operator, sessionId)
    const free = (await owner.get(`/api/client/robots/${robot.id}`)).body
    expect(free).toMatchObject({ status: 'AVAILABLE', total_hours: 1.5 })
    const next = (await start(operator, robot)).body.sessionId
    clockMs += HOUR_MS / 2
    await end(operator, next)
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.total_hours).toBeCloseTo(2, 3)
  })

  test('requires the operator role: 403 for others', async () => {
    const { owner, robot } = await actors()
    for (const user of [owner, await world.client(), await world.newUser()]) {
      expect(await start(user, robot)).toMatchObject({ status: 403, body: { error: expect.any(String) } })
    }
    expect((await owner.get(SESSIONS)).body.sessions).toEqual([])
  })

  test('returns 409 for a robot that is OFFLINE, was never connected or has disconnected', async () => {
    const { owner, operator, robot } = await actors()
    const never = await world.robot(owner)
    expect(await start(operator, never)).toMatchObject({ status: 409 })
    await robot.link.close()
    await expect
      .poll(async () => (await owner.get(`/api/client/robots/${robot.id}`)).body.status)
      .toBe('OFFLINE')
    const refused = await start(operator, robot)
    expect(refused.status).toBe(409)
    expect(refused.body).toEqual({ error: expect.stringContaining('it is offline') })
    expect((await owner.get('/api/notifications')).body.notifications).toEqual([])
  })

  test('returns 409 for a robot that is in an ACTIVE or PAUSED session', async () => {
    const { operator, robot } = await actors()
    const other = await world.operator()
    const { sessionId } = (await start(operator, robot)).body
    for (const _state of ['ACTIVE', 'PAUSED']) {
      const refused = await start(other, robot)
      expect(refused.status).toBe(409)
      expect(refused.body).toEqual({ error: expect.stringContaining('in another session') })
      await operator.patch(`${SESSIONS}/${sessionId}`, { action: 'pause' })
    }
    await end(operator, sessionId)
    expect(await start(other, robot)).toMatchObject({ status: 201 })
  })

  test('returns 409 for an operator with an ACTIVE or PAUSED session, and leaves the robot free', async () => {
    const { owner, operator, robot } = await actors()
    const second = await onlineRobot(owner)
    const { sessionId } = (await start(operator, robot)).body
    for (const _state of ['ACTIVE', 'PAUSED']) {
      for (const more of [{}, { scheduledFor: inAnHour() }]) {
        const refused = await start(operator, second, more)
        expect(refused.status).toBe(409)
        expect(refused.body).toEqual({ error: expect.stringContaining('open session') })
      }
      await operator.patch(`${SESSIONS}/${sessionId}`, { action: 'pause' })
    }
    expect((await owner.get(`/api/client/robots/${second.id}`)).body.status).toBe('AVAILABLE')
    await end(operator, sessionId)
    expect(await start(operator, second)).toMatchObject({ status: 201 })
  })

  test('returns 404 for a robot that does not exist or was removed', async () => {
    const { owner, operator, robot } = await actors()
    await owner.delete(`/api/client/robots/${robot.id}`)
    for (const robotId of [randomUUID(), robot.id]) {
      for (const more of [{}, { scheduledFor: inAnHour() }]) {
        expect(await operator.post(SESSIONS, { robotId, ...more })).toMatchObject({
          status: 404,
          body: { error: 'Robot not found' },
        })
      }
    }
  })

  test('on a robot that requires a certification needs an APPROVED certification', async () => {
    const [owner, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
    const robot = await onlineRobot(owner, { robot_type: 'delicate', require_certification: true })
    const refused = async () => {
      for (const more of [{}, { scheduledFor: inAnHour() }]) {
        const reply = await start(operator, robot, more)
        expect(reply).toMatchObject({ status: 403, body: { error: expect.stringContaining('delicate') } })
      }
      expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('AVAILABLE')
    }
    const request = async (robotType: string, verb?: string) => {
      const { id } = (await operator.post('/api/operator/certifications', { robot_type: robotType })).body
      if (verb) await admin.post(`/api/admin/certifications/${id}/${verb}`, { reason: 'Not yet' })
      return id
    }
    await refused()
    await request('other', 'approve')
    await refused()
    await request('delicate', 'reject')
    await refused()
    const id = await request('delicate')
    await refused()
    await admin.post(`/api/admin/certifications/${id}/approve`)
    expect(await start(operator, robot)).toMatchObject({ status: 201 })
  })

  test.each([
    ['robotId', {}],
    ['robotId', { robotId: 'not-a-uuid' }],
    ['robotId', { robotId: null }],
    ['robotId', { robotId: ['11111111-1111-4111-8111-111111111111'] }],
    ['operatorId', { robotId: randomUUID(), operatorId: 'me' }],
    ['scheduledFor', { robotId: randomUUID(), scheduledFor: 'tomorrow' }],
    ['scheduledFor', { robotId: randomUUID(), scheduledFor: '2026-02-30T10:00:00Z' }],
    ['scheduledFor', { robotId: randomUUID(), scheduledFor: 1_800_000_000_000 }],
    ['robot_id', { robotId: randomUUID(), robot_id: randomUUID() }],
  ])('returns 400 naming %s for %j', async (field, body) => {
    operatorOnce ??= world.operator()
    const reply = await (await operatorOnce).post(SESSIONS, body)
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ error: expect.stringContaining(field) })
  })
  let operatorOnce: Promise<TestUser> | undefined
})

describe('operatorId', () => {
  test('accepts the id of the caller only', async () => {
    const { operator, robot } = await actors()
    const other = await world.operator()
    const refused = await start(operator, robot, { operatorId: other.id })
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('operatorId') } })

    const own = await start(operator, robot, { operatorId: operator.id })
    expect(own).toMatchObject({ status: 201 })
    await end(operator, own.body.sessionId)
  })

  test('may name another operator when the caller is an admin', async () => {
    const { owner, operator, robot } = await actors()
    const admin = await world.admin()
    for (const operatorId of [owner.id, randomUUID()]) {
      expect(await start(admin, robot, { operatorId })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('operatorId') },
      })
    }
    expect(await start(admin, robot)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('operatorId') },
    })

    const started = await start(admin, robot, { operatorId: operator.id })
    expect(started).toMatchObject({ status: 201, body: { status: 'ACTIVE' } })
    expect((await operator.get(SESSIONS)).body.sessions).toMatchObject([{ id: started.body.sessionId }])
    expect(await end(operator, started.body.sessionId)).toMatchObject({ status: 200 })
  })
})
