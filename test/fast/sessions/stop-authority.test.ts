import { isDeepStrictEqual } from 'node:util'
import type { SessionAction } from '@wheelhouse/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/errors/errors.ts'
import type { RobotStop } from '../../../src/core/events/bus.ts'
import type { Caller } from '../../../src/core/http/endpoint.ts'
import { sessionDetail } from '../../../src/modules/sessions/index.ts'
import { connectTo } from '../../support/database/sql.ts'
import { actingForSelf } from '../../support/world/acting.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Permissions of stop and clear, and the records of both: at the services that REST, hub, gateway and MCP share.
// emergency-stop.test.ts has each of these ways from the caller to the robot.

/** The participants of a session, and other users. The owner and the other operator have an API key, the others a token. */
const participants = ['owner', 'operator', 'admin'] as const
const others = ['another owner', 'another operator', 'a user without a role'] as const
type CallerName = (typeof participants | typeof others)[number]

/** A status, and which stops are latched. */
type State =
  | 'PENDING'
  | 'ACTIVE'
  | 'PAUSED'
  | 'COMPLETED'
  | 'CANCELLED'
  | 'stopped by operator'
  | 'stopped by owner'
  | 'stopped by admin'
  | 'stopped by operator, owner'

const actions = ['emergency_stop', 'clear_stop', 'request_clear_stop', 'resume'] as const
/** The statuses that the owner, the operator and an admin receive for each action. Everyone else receives 404. */
const table: Record<State, Record<(typeof actions)[number], string>> = {
  PENDING: closed(),
  ACTIVE: { ...closed(), emergency_stop: '200 200 200' },
  PAUSED: { ...closed(), emergency_stop: '200 200 200', resume: '403 200 403' },
  'stopped by operator': {
    emergency_stop: '200 200 200',
    clear_stop: '200 200 200',
    request_clear_stop: '403 409 403',
    resume: '403 409 403',
  },
  'stopped by owner': ownerClears(),
  'stopped by admin': ownerClears(),
  'stopped by operator, owner': ownerClears(),
  COMPLETED: closed(),
  CANCELLED: closed(),
}

function closed() {
  return {
    emergency_stop: '409 409 409',
    clear_stop: '409 409 409',
    request_clear_stop: '403 409 403',
    resume: '403 409 403',
  }
}

function ownerClears() {
  return {
    emergency_stop: '200 200 200',
    clear_stop: '200 403 200',
    request_clear_stop: '403 200 403',
    resume: '403 409 403',
  }
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

let world: World
let clockMs = Date.now()
let owner: TestUser
let operator: TestUser
let admin: TestUser
let robotId: string
/** The session of the present test. */
let id: string
const callers = new Map<string, Caller>()
const stops: RobotStop[] = []
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
  ;[owner, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  const robot = await world.robot(owner)
  robotId = robot.id
  ;(await world.connect(robot)).beat()
  const otherOperator = await world.operator()
  const tokens: Record<CallerName, string> = {
    owner: (await owner.key()).key,
    operator: operator.token,
    admin: admin.token,
    'another owner': (await world.client()).token,
    'another operator': (await otherOperator.key()).key,
    'a user without a role': (await world.newUser()).token,
  }
  // As REST, hub and MCP do.
  for (const [name, token] of Object.entries(tokens))
    callers.set(name, await world.platform.identity.auth.authenticateToken(token))
  world.platform.core.bus.subscribe('robot.stop', (message) => stops.push(message))
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns the stops that the bus has delivered to gateways since the last call. */
async function newStops(): Promise<RobotStop[]> {
  await new Promise(setImmediate)
  return stops.splice(0)
}

const callerOf = (name: string) => callers.get(name) as Caller

const perform = (name: string, action: SessionAction, reason?: string) =>
  world.platform.sessions.lifecycle.performAction(callerOf(name), id, action, reason)

/** Performs an action; returns the status that REST would answer. */
async function statusOf(name: string, action: SessionAction): Promise<number> {
  try {
    await perform(name, action, 'smoke')
    return 200
  } catch (cause) {
    if (cause instanceof AppError) return cause.status
    throw cause
  }
}

/** Records a stop as the gateway does. */
const recordStop = ({ userId }: { userId: string }, reason?: string, ownerId?: string) =>
  world.platform.sessions.controlPersistence.recordStop({ sessionId: id, userId, ownerId }, reason)

const row = () =>
  world.platform.core.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
type Row = Awaited<ReturnType<typeof row>>

/** Starts or schedules the session of a test. */
async function begin(scheduled = false): Promise<void> {
  const { starts } = world.platform.sessions
  const session = scheduled
    ? await starts.schedule({ id: operator.id }, { robotId }, new Date(clockMs + HOUR_MS), operator.id)
    : await starts.startNow({ id: operator.id }, { robotId }, operator.id)
  id = session.id
}

/** Brings the open session of a test, in whatever state, into a state. */
async function bring(state: State): Promise<void> {
  const before = await row()
  if (before.stop_at) await perform('owner', 'clear_stop')
  if (state === 'ACTIVE' && before.status === 'PAUSED') await perform('operator', 'resume')
  if (state === 'PAUSED' && before.status === 'ACTIVE') await perform('operator', 'pause', 'lunch')
  const [, requesters] = state.split('stopped by ')
  for (const requester of requesters?.split(', ') ?? []) await perform(requester, 'emergency_stop', 'first')
}

/** Ends the session, so that robot and operator are free for the next test. */
async function finish(): Promise<void> {
  const { status } = await row()
  if (status === 'PENDING') await perform('owner', 'cancel')
  else if (status === 'ACTIVE' || status === 'PAUSED') await perform('owner', 'end')
}

describe.each(Object.keys(table) as State[])('a session that is %s', (state) => {
  beforeAll(async () => {
    await begin(state === 'PENDING' || state === 'CANCELLED')
    if (state === 'COMPLETED' || state === 'CANCELLED') await finish()
  })
  afterAll(finish)
  const isOpen = !['PENDING', 'COMPLETED', 'CANCELLED'].includes(state)

  /** Returns what an action may change. A repeated stop changes the number of requests only. */
  const stateOf = ({ status, stop_by_role, stop_by_owner }: Row) => [status, stop_by_role, stop_by_owner]

  test.each(actions)('answers each caller of %s, and a refused action changes nothing', async (action) => {
    if (isOpen) await bring(state)
    let before = await row()
    await newStops()
    const expected = new Map<CallerName, number>(others.map((name) => [name, 404]))
    for (const [index, status] of table[state][action].split(' ').entries())
      expected.set(participants[index]!, Number(status))

    for (const [name, status] of [...expected].filter(([, status]) => status !== 200)) {
      expect(await statusOf(name, action), name).toBe(status)
      if (action === 'emergency_stop') expect(await recordStop(callerOf(name)), name).toBe('over')
    }
    expect(await row()).toEqual(before)
    expect(await newStops()).toEqual([])

    for (const [name] of [...expected].filter(([, status]) => status === 200)) {
      expect(await statusOf(name, action), name).toBe(200)
      const after = await row()
      if (action === 'emergency_stop') {
        const first = before.stop_at ? before.stop_reason : 'smoke'
        expect(after).toMatchObject({ status: 'PAUSED', stop_at: expect.any(Date), stop_reason: first })
        expect(after.stop_by_owner).toBe(before.stop_by_owner || name !== 'operator')
        expect(after.pause_reason).toBe(before.pause_reason ?? 'emergency_stop')
        expect(await recordStop(callerOf(name)), 'at the gateway').toBe(after.event_seq)
        const stop = { sessionId: id, reason: first, eventSeq: after.event_seq }
        expect(await newStops()).toMatchObject([stop, stop])
      }
      if (action === 'clear_stop')
        expect(after).toMatchObject({ status: 'PAUSED', stop_at: null, stop_by_id: null })
      if (action === 'resume') expect(after).toMatchObject({ status: 'ACTIVE', stop_at: null })
      if (isDeepStrictEqual(stateOf(after), stateOf(before))) continue
      await bring(state)
      before = await row()
      await newStops()
    }
  })

  test('shows each participant whether they may clear the stop', async () => {
    if (isOpen) await bring(state)
    const detail = await world.platform.sessions.queries.get({ ...actingForSelf(owner.id), roles: [] }, id)
    const [ofOwner, ofOperator, ofAdmin] = table[state].clear_stop.split(' ')
    for (const [name, status] of Object.entries({ owner: ofOwner, operator: ofOperator, admin: ofAdmin })) {
      const { stop } = sessionDetail(detail, callerOf(name), new Date(clockMs)).control
      if (status === '409') expect(stop).toBeNull()
      else
        expect(stop, name).toMatchObject({
          by_role: state.replace(/stopped by (\w+).*/, '$1').replace('owner', 'client'),
          clearable_by: ofOperator === '200' ? 'anyone' : 'owner',
          may_clear: status === '200',
        })
    }
  })
})

describe('a stop', () => {
  beforeAll(() => begin())
  afterAll(finish)
  beforeEach(() => bring('ACTIVE'))

  const log = async () => (await owner.get(`/api/sessions/${id}/events?limit=200`)).body.events
  const audited = async () =>
    (await admin.get(`/api/admin/audit?subject_id=${id}`)).body.entries.map(
      ({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }),
    )
  const newestNotification = async (user: TestUser) =>
    (await user.get('/api/notifications?limit=1')).body.notifications[0]
  const control = async (user: TestUser) => (await user.get(`/api/sessions/${id}`)).body.control

  describe.each(['the API', 'the gateway'] as const)('over %s', (way) => {
    test.each(['operator', 'owner', 'admin'] as const)(
      'of the %s is logged, both sides are notified, and it is audited',
      async (name) => {
        const user = { operator, owner, admin }[name]
        const reason = `${name} over ${way}`
        const [seq, audit] = [(await row()).event_seq, await audited()]
        await newStops()
        if (way === 'the API') await perform(name, 'emergency_stop', reason)
        else expect(await recordStop({ userId: user.id }, reason)).toBe(seq + 1)

        const by_role = name === 'owner' ? 'client' : name
        expect((await control(owner)).stop).toMatchObject({ reason, by: user.id, by_role })
        expect((await log()).at(-1)).toMatchObject({
          type: 'session.stopped',
          seq: seq + 1,
          data: { status: 'PAUSED', actor_id: user.id, reason },
        })
        for (const side of [owner, operator]) {
          expect(await newestNotification(side)).toMatchObject({
            type: 'session.stopped',
            data: { session_id: id, reason },
          })
        }
        const entry = { action: 'session.stopped', actor_id: user.id, data: { reason } }
        expect(await audited()).toEqual([entry, ...audit])
        const [stop, ...others] = await newStops()
        expect(stop).toMatchObject({ sessionId: id, reason, eventSeq: seq + 1, userId: user.id })
        expect(stop).toMatchObject({ byRole: by_role, byOwner: name !== 'operator' })
        expect(others).toEqual([])
      },
    )
  })

  test('that is repeated keeps its reason and its requester; the first one of the owner is logged too', async () => {
    const before = (await log()).length
    for (const name of ['operator', 'owner', 'operator', 'admin']) await perform(name, 'emergency_stop', name)
    expect((await control(owner)).stop).toMatchObject({ reason: 'operator', by: operator.id })
    expect((await log()).slice(before)).toMatchObject([
      { type: 'session.stopped', data: { actor_id: operator.id } },
      { type: 'session.stopped', data: { actor_id: owner.id, status: 'PAUSED' } },
    ])
  })

  test('of an owner that the gateway records after one of the operator is the stop of both', async () => {
    await recordStop({ userId: operator.id }, 'mine', owner.id)
    expect(await row()).toMatchObject({ stop_by_id: operator.id, stop_by_owner: true })
    await perform('owner', 'clear_stop')
    await recordStop({ userId: operator.id }, 'mine', callerOf('another owner').userId)
    expect(await row()).toMatchObject({ stop_by_id: operator.id, stop_by_owner: false })
  })

  test('that many request at once latches once, with the reason of the first', async () => {
    const before = (await log()).length
    const names = ['owner', 'admin', 'owner', 'admin', 'owner', 'admin']
    await Promise.all(
      names.flatMap((name, index) => [
        perform(name, 'emergency_stop', `api ${index}`),
        recordStop({ userId: name === 'owner' ? owner.id : admin.id }, `gateway ${index}`),
      ]),
    )
    const [entry, ...others] = (await log()).slice(before)
    expect(others).toEqual([])
    expect(entry.data).toMatchObject({ reason: (await row()).stop_reason })
  })

  test('at the gateway is recorded for any reason', async () => {
    const stored: [reason: string | undefined, stored: string][] = [
      [undefined, 'emergency_stop'],
      [' \t', 'emergency_stop'],
      ['a\0b\ud800', 'ab\ufffd'],
      ['\0\0', 'emergency_stop'],
      [`${'x'.repeat(499)}🦾`, `${'x'.repeat(499)}\ufffd`],
      ['é'.repeat(60_000), 'é'.repeat(500)],
    ]
    for (const [reason, expected] of stored) {
      await recordStop({ userId: operator.id }, reason)
      expect((await row()).stop_reason).toBe(expected)
      await perform('operator', 'clear_stop')
    }
  })

  test('is cleared with an entry in log and audit, and both sides are notified; the session remains PAUSED', async () => {
    await perform('operator', 'emergency_stop', 'cable')
    const { stop } = await control(owner)
    await perform('owner', 'clear_stop', 'cable moved')
    expect((await log()).at(-1)).toMatchObject({
      type: 'session.stop_cleared',
      data: { status: 'PAUSED', actor_id: owner.id, reason: 'cable moved' },
    })
    expect((await audited())[0]).toEqual({
      action: 'session.stop_cleared',
      actor_id: owner.id,
      data: {
        stop_reason: 'cable',
        stop_at: stop.at,
        stop_by_id: operator.id,
        stop_by_role: 'operator',
        reason: 'cable moved',
      },
    })
    for (const side of [owner, operator])
      expect(await newestNotification(side)).toMatchObject({ type: 'session.stop_cleared' })
  })

  test('that is requested again while a clear waits is not cleared', async () => {
    await perform('operator', 'emergency_stop')
    await using sql = await connectTo(world.database.url)
    const waiting = async () => {
      const { rows } = await sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count
    }
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [robotId])
    const pressing = perform('operator', 'emergency_stop')
    await waitFor(async () => expect(await waiting()).toBe(1))
    const clearing = statusOf('operator', 'clear_stop')
    await waitFor(async () => expect(await waiting()).toBe(2))
    await sql.query('rollback')
    await pressing
    expect(await clearing).toBe(409)
    expect((await row()).stop_at).not.toBeNull()
    expect(await statusOf('operator', 'clear_stop')).toBe(200)
  })

  test('and its clear do not change the time of the pause', async () => {
    const pausedSeconds = async () => (await owner.get(`/api/sessions/${id}`)).body.paused_seconds
    const before = await pausedSeconds()
    await perform('owner', 'pause')
    for (const action of ['emergency_stop', 'clear_stop', 'resume'] as const) {
      clockMs += 10_000
      await perform(action === 'resume' ? 'operator' : 'owner', action)
    }
    expect(await pausedSeconds()).toBe(before + 30)
  })

  test('may be cleared by the operator when the present setting of the robot allows it', async () => {
    const set = (stop_clear: string) => owner.patch(`/api/client/robots/${robotId}`, { stop_clear })
    expect((await set('unknown')).status).toBe(400)
    expect((await set('anyone')).body).toMatchObject({ stop_clear: 'anyone' })
    await perform('owner', 'emergency_stop')
    expect((await control(operator)).stop).toMatchObject({ clearable_by: 'anyone', may_clear: true })
    expect(await statusOf('operator', 'request_clear_stop')).toBe(409)
    await set('owner')
    expect(await statusOf('operator', 'clear_stop')).toBe(403)
    await set('anyone')
    expect(await statusOf('operator', 'clear_stop')).toBe(200)
    await set('owner')
  })

  test('that the operator asks to clear notifies the owner, and the admin who requested it, once a minute', async () => {
    await perform('admin', 'emergency_stop')
    const asked = async (user: TestUser) =>
      (await user.get('/api/notifications?limit=100')).body.notifications.filter(
        ({ type, data }: { type: string; data: { session_id: string } }) =>
          type === 'session.stop_clear_requested' && data.session_id === id,
      )
    const [ofOwner, ofAdmin] = [(await asked(owner)).length, (await asked(admin)).length]
    await Promise.all(
      Array.from({ length: 4 }, () => perform('operator', 'request_clear_stop', 'It was my cat')),
    )
    expect((await asked(owner))[0]).toMatchObject({ data: { reason: 'It was my cat' } })
    expect((await log()).at(-1)).toMatchObject({
      type: 'session.stop_clear_requested',
      data: { actor_id: operator.id, status: 'PAUSED' },
    })
    expect((await control(owner)).stop.clear_requested_at).toBe(new Date(clockMs).toISOString())
    for (const minute of [1, 2]) {
      expect(await asked(owner)).toHaveLength(ofOwner + minute)
      expect(await asked(admin)).toHaveLength(ofAdmin + minute)
      clockMs += MINUTE_MS
      await perform('operator', 'request_clear_stop')
    }
    await perform('owner', 'clear_stop')
    await perform('owner', 'emergency_stop')
    expect((await control(owner)).stop.clear_requested_at).toBeNull()
  })

  test('exists in no session that is not PAUSED: the database refuses it', async () => {
    await perform('owner', 'emergency_stop')
    await using database = await connectTo(world.database.url)
    const set = (change: string) => database.query(`update sessions set ${change} where id = $1`, [id])
    await expect(set(`status = 'ACTIVE', active_until = null`)).rejects.toMatchObject({
      constraint: 'sessions_stop_pauses',
    })
    await expect(set('stop_reason = null')).rejects.toMatchObject({ constraint: 'sessions_stop_reason' })
  })

  test('needs a valid credential of a user who is not suspended', async () => {
    const { id: keyId, key } = await owner.key()
    await owner.delete(`/api/auth/api-keys/${keyId}`)
    const stop = (token: string) =>
      owner.request('PATCH', `/api/sessions/${id}`, { action: 'emergency_stop' }, token)
    const suspend = (at: Date | null) =>
      world.platform.core.db
        .updateTable('users')
        .set({ suspended_at: at, suspension_reason: at && 'test' })
        .where('id', '=', owner.id)
        .execute()
    for (const token of ['', key, `${owner.token}x`]) expect((await stop(token)).status).toBe(401)
    await suspend(new Date(clockMs))
    expect((await stop(owner.token)).status).toBe(403)
    await suspend(null)
    expect(await row()).toMatchObject({ status: 'ACTIVE', stop_at: null })
  })
})

describe('a session that ends under a stop', () => {
  const robot = () =>
    world.platform.core.db
      .selectFrom('robots')
      .select(['status', 'on_hold'])
      .where('id', '=', robotId)
      .executeTakeFirstOrThrow()
  const set = (change: object) => owner.patch(`/api/client/robots/${robotId}`, change)

  test.each([
    ['operator', 'owner', 'owner', true],
    ['operator', 'admin', 'owner', true],
    ['operator', 'operator', 'owner', false],
    ['operator', 'owner', 'anyone', false],
    ['owner', 'owner', 'owner', false],
    ['owner', 'admin', 'owner', false],
    ['admin', 'owner', 'owner', false],
  ] as const)(
    'is over without a stop: ended by the %s, stopped by the %s, clearable by %s; robot on hold: %s',
    async (ends, requester, stop_clear, onHold) => {
      await set({ stop_clear })
      await begin()
      await perform(requester, 'emergency_stop')
      await perform(ends, 'end')
      expect(await row()).toMatchObject({ status: 'COMPLETED', stop_at: null, stop_by_owner: false })
      expect(await robot()).toEqual({ status: 'AVAILABLE', on_hold: onHold })
      await set({ stop_clear: 'owner', on_hold: false })
    },
  )

  test('leaves a robot on hold, which no operator finds or starts, until its owner releases it', async () => {
    const start = (body: object = {}) => operator.post('/api/sessions', { robotId, ...body })
    const isAvailable = async () =>
      (await operator.get('/api/operator/available-robots')).body.robots.some(
        (item: { id: string }) => item.id === robotId,
      )
    await begin()
    await perform('owner', 'emergency_stop')
    await perform('operator', 'end')
    expect((await owner.get(`/api/client/robots/${robotId}`)).body).toMatchObject({ on_hold: true })
    expect(await isAvailable()).toBe(false)
    const onHold = { status: 409, body: { error: expect.stringContaining('on hold') } }
    expect(await start()).toMatchObject(onHold)
    expect(await start({ scheduledFor: new Date(clockMs + HOUR_MS).toISOString() })).toMatchObject(onHold)
    expect(await set({ on_hold: false })).toMatchObject({ status: 200, body: { on_hold: false } })
    expect(await isAvailable()).toBe(true)
    const started = await start()
    expect(started.status).toBe(201)
    id = started.body.sessionId
    expect((await row()).stop_at).toBeNull()
    await finish()
  })
})

test('an owner who operates their own robot clears their stop, and asks no other user', async () => {
  const both = await world.newUser()
  for (const role of ['client', 'operator']) await both.post('/api/auth/profile', { role })
  const robot = await world.robot(both)
  ;(await world.connect(robot)).beat()
  const { sessionId } = (await both.post('/api/sessions', { robotId: robot.id })).body
  const patch = (action: string) => both.patch(`/api/sessions/${sessionId}`, { action })
  const stopped = await patch('emergency_stop')
  expect(stopped.body.control.stop).toMatchObject({ by_role: 'client', may_clear: true })
  expect(await patch('request_clear_stop')).toMatchObject({ status: 409 })
  expect(await patch('clear_stop')).toMatchObject({ status: 200 })
  await patch('end')
})
