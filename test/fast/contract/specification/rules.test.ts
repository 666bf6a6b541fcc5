import { SessionStatus } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../../support/processes/processes.ts'
import type { TestUser } from '../../../support/world/test-user.ts'
import { waitFor } from '../../../support/world/wait.ts'
import { createSpecificationFixture, ok, type Scenario, start } from './fixtures.ts'

/** One test for each rule, transition, limit, error and event of the specification. */

let scenario: Scenario
beforeAll(async () => {
  scenario = await createSpecificationFixture()
})
afterAll(() => scenario.world[Symbol.asyncDispose]())

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
const typesFor = async (user: TestUser) => {
  const { body } = await ok(user.get('/api/notifications?limit=100'))
  return body.notifications.map(({ type, data }: { type: string; data: { session_id?: string } }) => {
    return { type, sessionId: data.session_id }
  })
}
const performAction = (user: TestUser, id: string, action: string) =>
  user.patch(`/api/sessions/${id}`, { action })
/** Starts a session of a new operator on a robot of the owner. */
async function drive() {
  const operator = await scenario.world.operator()
  const { id: robotId } = await scenario.availableRobot()
  return { operator, robotId, sessionId: await start(operator, robotId) }
}
const robotStatus = async (id: string) =>
  (await ok(scenario.owner.get(`/api/client/robots/${id}`))).body.status

describe('States and transitions', () => {
  test('the session states are PENDING, ACTIVE, PAUSED, COMPLETED, CANCELLED', async () => {
    expect(SessionStatus.options).toEqual(['PENDING', 'ACTIVE', 'PAUSED', 'COMPLETED', 'CANCELLED'])
    for (const status of SessionStatus.options) {
      expect((await scenario.owner.get(`/api/sessions?status=${status}`)).status).toBe(200)
    }
    expect((await scenario.owner.get('/api/sessions?status=DONE')).status).toBe(400)
  })

  test('(new) POST /api/sessions without scheduledFor → ACTIVE; the robot IN_SESSION; the client notified', async () => {
    const operator = await scenario.world.operator()
    const { id: robotId } = await scenario.availableRobot()
    const reply = await operator.post('/api/sessions', { robotId })
    expect(reply).toMatchObject({ status: 201, body: { status: 'ACTIVE' } })
    expect(await robotStatus(robotId)).toBe('IN_SESSION')
    const { sessionId } = reply.body
    expect(await typesFor(scenario.owner)).toContainEqual({ type: 'session.started', sessionId })
  })

  test('(new) POST /api/sessions with scheduledFor → PENDING, under the same preconditions', async () => {
    const { operator, robotId } = await drive()
    const free = await scenario.availableRobot()
    const schedule = (user: TestUser, id: string) =>
      user.post('/api/sessions', { robotId: id, scheduledFor: inAnHour() })
    expect((await schedule(scenario.owner, free.id)).status).toBe(403)
    expect((await schedule(operator, free.id)).status).toBe(409)
    expect((await schedule(await scenario.world.operator(), robotId)).status).toBe(409)
    const reply = await schedule(await scenario.world.operator(), free.id)
    expect(reply).toMatchObject({ status: 201, body: { status: 'PENDING' } })
    expect(await robotStatus(free.id)).toBe('AVAILABLE')
  })

  test('ACTIVE, POST /api/sessions/{id}/extend by its client: logged, operator notified, status unchanged, the operator decides', async () => {
    const { operator, sessionId } = await drive()
    const reply = await scenario.owner.post(`/api/sessions/${sessionId}/extend`, { additionalMinutes: 15 })
    expect(reply).toMatchObject({ status: 200, body: { message: expect.any(String) } })
    const { events } = (await ok(scenario.owner.get(`/api/sessions/${sessionId}/events`))).body
    expect(events.at(-1)).toMatchObject({ type: 'extension.requested', data: { additional_minutes: 15 } })
    expect(await typesFor(operator)).toContainEqual({ type: 'extension.requested', sessionId })
    const before = (await ok(operator.get(`/api/sessions/${sessionId}`))).body
    expect(before.status).toBe('ACTIVE')
    const after = (await ok(performAction(operator, sessionId, 'approve_extension'))).body
    expect(after.planned_minutes).toBe((before.planned_minutes ?? 0) + 15)
  })
})

describe('Rules', () => {
  test('1: an operator holds at most one session in ACTIVE or PAUSED', async () => {
    const { operator, sessionId } = await drive()
    const other = await scenario.availableRobot()
    for (const action of ['pause', 'resume']) {
      expect((await operator.post('/api/sessions', { robotId: other.id })).status).toBe(409)
      await ok(performAction(operator, sessionId, action))
    }
    await ok(performAction(operator, sessionId, 'end'))
    expect((await operator.post('/api/sessions', { robotId: other.id })).status).toBe(201)
  })
  test('2: a session starts only on a robot that is AVAILABLE', async () => {
    const { robotId } = await drive()
    for (const id of [robotId, scenario.newRobot.id]) {
      expect((await (await scenario.world.operator()).post('/api/sessions', { robotId: id })).status).toBe(
        409,
      )
    }
  })
  test('3: a session is extended only while ACTIVE', async () => {
    const { operator, sessionId } = await drive()
    const extend = () => scenario.owner.post(`/api/sessions/${sessionId}/extend`, { additionalMinutes: 5 })
    await ok(performAction(operator, sessionId, 'pause'))
    expect((await extend()).status).toBe(409)
    await ok(performAction(operator, sessionId, 'end'))
    expect((await extend()).status).toBe(409)
  })
  test('4: only a completed session is rated', async () => {
    const { operator, sessionId } = await drive()
    const rate = () => scenario.owner.post(`/api/sessions/${sessionId}/rate`, { rating: 3 })
    expect((await rate()).status).toBe(409)
    await ok(performAction(operator, sessionId, 'end'))
    expect((await rate()).status).toBe(200)
  })
})

describe('Authentication', () => {
  test('1: every endpoint but the public ones needs a credential', async () => {
    for (const path of ['/api/sessions', '/api/client/robots', '/api/operator/stats', '/api/auth/profile']) {
      expect((await fetch(scenario.world.baseUrl + path)).status, path).toBe(401)
    }
    for (const path of ['/api/health', '/api/stats', '/api/public/pricing', '/api/robots/so-101']) {
      expect((await fetch(scenario.world.baseUrl + path)).status, path).toBe(200)
    }
  })
  test('Browser session: the session token as a cookie or as a Bearer token', async () => {
    const headers = [
      { Cookie: `__session=${scenario.owner.token}` },
      { Authorization: `Bearer ${scenario.owner.token}` },
    ]
    for (const item of headers) {
      const response = await fetch(`${scenario.world.baseUrl}/api/auth/profile`, { headers: item })
      expect(await response.json()).toMatchObject({ id: scenario.owner.id })
    }
  })
  test('API key: begins with svc_live_, is made and revoked by its user, is sent as Bearer', async () => {
    const { id, key } = await scenario.owner.key()
    expect(key).toMatch(/^svc_live_/)
    const ask = () => scenario.owner.request('GET', '/api/sessions', undefined, key)
    expect((await ask()).status).toBe(200)
    expect((await scenario.owner.delete(`/api/auth/api-keys/${id}`)).status).toBe(204)
    expect((await ask()).status).toBe(401)
  })
  test('3: a replacement key works before the old one is revoked', async () => {
    const [old, replacement] = [await scenario.owner.key(), await scenario.owner.key()]
    for (const { key } of [old, replacement]) {
      expect((await scenario.owner.request('GET', '/api/sessions', undefined, key)).status).toBe(200)
    }
  })
  test('5: sync, check-onboarding and avatar take the session token only', async () => {
    const { key } = await scenario.owner.key()
    const ask = (method: string, path: string) => scenario.owner.request(method, path, undefined, key)
    expect((await ask('POST', '/api/auth/sync')).status).toBe(403)
    expect((await ask('GET', '/api/auth/check-onboarding')).status).toBe(403)
    expect((await ask('POST', '/api/auth/avatar')).status).toBe(403)
  })
  test('6: client routes need the client role, operator routes the operator role', async () => {
    expect((await scenario.operator.get('/api/client/robots')).status).toBe(403)
    expect((await scenario.owner.get('/api/operator/stats')).status).toBe(403)
    const id = scenario.completedSessionId
    expect((await scenario.operator.post(`/api/sessions/${id}/rate`, { rating: 5 })).status).toBe(403)
    expect((await scenario.owner.post('/api/sessions', { robotId: scenario.newRobot.id })).status).toBe(403)
  })
  test('6: lists, single sessions, messages and export take any authenticated user', async () => {
    const user = await scenario.world.newUser()
    expect((await user.get('/api/sessions')).body).toEqual({ sessions: [] })
    expect((await user.post('/api/sessions/export', { format: 'json' })).body).toEqual({ sessions: [] })
    for (const tail of ['', '/messages']) {
      expect((await user.get(`/api/sessions/${scenario.completedSessionId}${tail}`)).status).toBe(404)
    }
  })
})

describe('Events', () => {
  test('1: an extension request is a session event and a notification of the operator', async () => {
    const { operator, sessionId } = await drive()
    const hub = await operator.hub()
    await hub.send('session:watch', { session_id: sessionId })
    await ok(scenario.owner.post(`/api/sessions/${sessionId}/extend`, { additionalMinutes: 10 }))
    await hub.saw('session:event', { session_id: sessionId, type: 'extension.requested' })
    await hub.saw('notification', { type: 'extension.requested' })
    hub.close()
  })
  test('2: an immediate start notifies the client', async () => {
    const hub = await scenario.owner.hub()
    const { sessionId } = await drive()
    await hub.saw('notification', { type: 'session.started' })
    await waitFor(async () => {
      expect(await typesFor(scenario.owner)).toContainEqual({ type: 'session.started', sessionId })
    })
    hub.close()
  })
})

describe('Errors', () => {
  test('1: an error is an object with the single field `error`, a text', async () => {
    for (const path of ['/api/nothing', '/api/sessions?limit=0', `/api/sessions/${crypto.randomUUID()}`]) {
      const reply = await scenario.owner.get(path)
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.body).toEqual({ error: expect.stringMatching(/\w/) })
    }
  })
  test('2: sessions come wrapped in `sessions`, robots as a bare array', async () => {
    expect(Object.keys((await scenario.owner.get('/api/sessions')).body)).toEqual(['sessions'])
    expect(Array.isArray((await scenario.owner.get('/api/client/robots')).body)).toBe(true)
  })
  test('POST /api/client/robots with a hardware_id that belongs to a robot: 409', async () => {
    const body = { name: 'Twin', robot_type: 'testbot', hardware_id: 'spec-twin' }
    expect((await scenario.owner.post('/api/client/robots', body)).status).toBe(201)
    for (const user of [scenario.owner, await scenario.world.client()]) {
      const reply = await user.post('/api/client/robots', body)
      expect(reply).toMatchObject({ status: 409, body: { error: expect.stringContaining('hardware_id') } })
    }
  })
  test('POST /api/contact while mail is unavailable: stored true, delivered false', async () => {
    const reply = await scenario.owner.post('/api/contact', {
      name: 'Ada',
      email: 'ada@example.org',
      category: 'Other',
      subject: 'Hi',
      message: 'Hello',
    })
    expect(reply).toMatchObject({ status: 201, body: { stored: true, delivered: false } })
  })
})

describe('Limits', () => {
  /** Copies a row, with other values for these columns, which may refer to the number `n` of the copy; returns the ids. */
  async function copies(table: string, id: string, count: number, columns: string): Promise<string[]> {
    const inserted = await query(
      scenario.world.database.url,
      `insert into ${table}
       select (jsonb_populate_record(row, jsonb_build_object('id', gen_random_uuid(), ${columns}))).*
       from ${table} row, generate_series(1, $2::int) n where row.id = $1 order by n returning id`,
      [id, count],
    )
    return inserted.map((row) => row.id)
  }

  test('GET /api/client/robots: at most 50, newest first', async () => {
    const owner = await scenario.world.client()
    const { id } = await scenario.world.robot(owner)
    const columns = `'hardware_id', gen_random_uuid(), 'created_at', created_at + n * interval '1 s'`
    const made = await copies('robots', id, 51, columns)
    await query(
      scenario.world.database.url,
      'insert into robot_presence (robot_id) select unnest($1::uuid[])',
      [made],
    )
    const listed = (await ok(owner.get('/api/client/robots'))).body
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(made.toReversed().slice(0, 50))
  })
  test('GET /api/sessions limit: 50 by default, 100 at most', async () => {
    const operator = await scenario.world.operator()
    const { id } = await scenario.availableRobot()
    const scheduledFor = inAnHour()
    const { body } = await ok(
      operator.post('/api/sessions', { robotId: id, scheduledFor, plannedMinutes: 30 }),
    )
    await copies('sessions', body.sessionId, 101, `'scheduled_for', scheduled_for + n * interval '1 hour'`)
    const count = async (search: string) =>
      (await ok(operator.get(`/api/sessions${search}`))).body.sessions.length
    expect(await count('')).toBe(50)
    expect(await count('?limit=100')).toBe(100)
    expect((await operator.get('/api/sessions?limit=101')).status).toBe(400)
  })
  test('GET /api/sessions offset: 0 by default', async () => {
    const [plain, zero] = [
      await scenario.owner.get('/api/sessions'),
      await scenario.owner.get('/api/sessions?offset=0'),
    ]
    expect(plain.body).toEqual(zero.body)
  })
  test('POST /api/client/robots: one robot per motor board hardware id', async () => {
    const owners = await Promise.all(Array.from({ length: 5 }, () => scenario.world.client()))
    const body = { name: 'Race', robot_type: 'testbot', hardware_id: 'spec-race' }
    const replies = await Promise.all(owners.map((owner) => owner.post('/api/client/robots', body)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })
  test('POST /api/sessions/{id}/rate: 1 to 5 stars', async () => {
    const { operator, sessionId } = await drive()
    await ok(performAction(operator, sessionId, 'end'))
    const rate = (rating: unknown) => scenario.owner.post(`/api/sessions/${sessionId}/rate`, { rating })
    for (const rating of [0, 6, 2.5, '5', null]) expect((await rate(rating)).status).toBe(400)
    expect((await rate(1)).status).toBe(200)
  })
})
