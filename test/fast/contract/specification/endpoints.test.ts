import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestUser } from '../../../support/world/test-user.ts'
import { createSpecificationFixture, type Scenario, start } from './fixtures.ts'

/**
 * One test for each row of the specification's tables of endpoints: the route behaves as its row states, with
 * every credential the row names (session token as Bearer and as cookie, API key) and with no other.
 */

let scenario: Scenario
let keys: Record<'owner' | 'operator', string>
let tinyPng: Buffer
beforeAll(async () => {
  scenario = await createSpecificationFixture()
  keys = { owner: (await scenario.owner.key()).key, operator: (await scenario.operator.key()).key }
  const { default: sharp } = await import('sharp')
  const background = { r: 200, g: 80, b: 20 }
  tinyPng = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer()
})
afterAll(() => scenario.world[Symbol.asyncDispose]())

type Who = 'owner' | 'operator'
type Credential = 'session as Bearer' | 'session as cookie' | 'API key'

interface Row {
  /** `POST /api/…`; `{session}` stands for the session that is over, `{open}` for the open one. */
  readonly route: string
  readonly purpose: string
  readonly who: Who
  readonly accepts: 'S' | 'S or K'
  readonly body?: () => unknown
  readonly status?: number
  readonly answer: unknown
  /** Restores or prepares state between two calls. */
  readonly before?: () => Promise<unknown>
}

const list = (name: string) => ({ [name]: expect.any(Array) })
let serial = 0
const board = () => `spec-board-${++serial}`

const auth: readonly Row[] = [
  {
    route: 'GET /api/auth/profile',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'returns the profile of the authenticated user',
    answer: { id: expect.any(String), display_name: expect.any(String), roles: ['client'] },
  },
  {
    route: 'POST /api/auth/profile',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'updates display name and notification preferences',
    body: () => ({ display_name: `Olive ${++serial}`, notification_preferences: { email: false } }),
    answer: {
      display_name: expect.stringMatching(/^Olive \d+$/),
      notification_preferences: { email: false, push: true },
    },
  },
  {
    route: 'POST /api/auth/sync',
    who: 'owner',
    accepts: 'S',
    purpose: 'synchronizes the identity-provider user with the platform user',
    answer: { email: expect.stringContaining('@test.local') },
  },
  {
    route: 'GET /api/auth/check-onboarding',
    who: 'owner',
    accepts: 'S',
    purpose: 'reports whether onboarding is complete',
    answer: { onboarded: expect.any(Boolean), roles: ['client'], missing: expect.any(Array) },
  },
  {
    route: 'POST /api/auth/avatar',
    who: 'owner',
    accepts: 'S',
    purpose: 'uploads a new avatar image',
    body: () => {
      const form = new FormData()
      form.set('avatar', new Blob([new Uint8Array(tinyPng)], { type: 'image/png' }), 'me.png')
      return form
    },
    answer: { avatar_url: expect.stringMatching(/^http/) },
  },
]

const client: readonly Row[] = [
  {
    route: 'GET /api/client/robots',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'lists the robots of the client as a bare array',
    answer: expect.arrayContaining([expect.objectContaining({ robot_type: 'testbot' })]),
  },
  {
    route: 'POST /api/client/robots',
    who: 'owner',
    accepts: 'S or K',
    status: 201,
    purpose: 'registers a robot and returns its id',
    body: () => ({ name: 'New', robot_type: 'testbot', hardware_id: board() }),
    answer: { id: expect.any(String) },
  },
  {
    route: 'GET /api/client/profile',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'returns the client profile',
    answer: { company_name: null, contact_email: null, billing_ready: false },
  },
  {
    route: 'PATCH /api/client/profile',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'updates client profile fields',
    body: () => ({ phone: '+49 30 1234567' }),
    answer: { phone: '+49 30 1234567' },
  },
  {
    route: 'GET /api/client/datasets',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'lists the cloud datasets with episode counts and sizes',
    answer: list('datasets'),
  },
  {
    route: 'GET /api/client/invoices',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'lists the monthly invoices',
    answer: list('invoices'),
  },
  {
    route: 'GET /api/client/stats',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'returns usage statistics',
    answer: { sessions_by_status: expect.objectContaining({ COMPLETED: 1 }) },
  },
]

const operator: readonly Row[] = [
  {
    route: 'GET /api/operator/profile',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'returns the operator profile',
    answer: { rating_average: 4, rating_count: 1, payout_ready: false },
  },
  {
    route: 'POST /api/operator/profile',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'creates or updates the operator profile',
    body: () => ({ headline: 'Ten years of arms', timezone: 'Europe/Berlin' }),
    answer: { headline: 'Ten years of arms', timezone: 'Europe/Berlin' },
  },
  {
    route: 'GET /api/operator/available-robots',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'lists available robots that match the certifications',
    before: () => scenario.availableRobot(),
    answer: { robots: expect.arrayContaining([expect.objectContaining({ status: 'AVAILABLE' })]) },
  },
  {
    route: 'GET /api/operator/certifications',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'lists certification requests and their status',
    answer: { certifications: expect.arrayContaining([expect.objectContaining({ status: 'APPROVED' })]) },
  },
  {
    route: 'POST /api/operator/certifications',
    who: 'operator',
    accepts: 'S or K',
    status: 201,
    purpose: 'requests certification for a robot type',
    body: () => ({ robot_type: `type-${++serial}` }),
    answer: { status: 'PENDING' },
  },
  {
    route: 'POST /api/operator/schedule',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'updates the weekly availability schedule',
    body: () => ({ timezone: 'UTC', slots: [{ weekday: 1, start: '09:00', end: '17:00' }] }),
    answer: { timezone: 'UTC', slots: [{ weekday: 1, start: '09:00', end: '17:00' }] },
  },
  {
    route: 'GET /api/operator/schedule',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'returns the weekly availability schedule',
    answer: { timezone: expect.any(String), slots: expect.any(Array) },
  },
  {
    route: 'GET /api/operator/availability',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'returns the current availability',
    answer: { available: false, reason: 'in_session', open_session_id: expect.any(String) },
  },
  {
    route: 'GET /api/operator/stats',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'returns earnings and session statistics',
    answer: { sessions_by_status: expect.objectContaining({ COMPLETED: 1 }) },
  },
]

/** Completes a session of a new operator, without a rating, and returns its id. */
async function unrated(): Promise<string> {
  const driver = await scenario.world.operator()
  const id = await start(driver, (await scenario.availableRobot()).id)
  await driver.patch(`/api/sessions/${id}`, { action: 'end' })
  return id
}
let unratedId = ''
let freeRobotId = ''

const sessions: readonly Row[] = [
  {
    route: 'GET /api/sessions',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'lists sessions for the authenticated user',
    answer: list('sessions'),
  },
  {
    route: 'POST /api/sessions',
    who: 'operator',
    accepts: 'S or K',
    status: 201,
    purpose: 'starts a teleoperation session',
    before: async () => {
      const open = await scenario.operator.get('/api/sessions?status=ACTIVE')
      for (const { id } of open.body.sessions) {
        await scenario.operator.patch(`/api/sessions/${id}`, { action: 'end' })
      }
      freeRobotId = (await scenario.availableRobot()).id
    },
    body: () => ({ robotId: freeRobotId }),
    answer: { sessionId: expect.any(String), status: 'ACTIVE' },
  },
  {
    route: 'GET /api/sessions/{session}',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'returns one session with its details',
    answer: { status: 'COMPLETED', rating_comment: 'Steady hands', end_reason: 'ended' },
  },
  {
    route: 'PATCH /api/sessions/{open}',
    who: 'operator',
    accepts: 'S or K',
    purpose: 'updates the session lifecycle',
    before: reopen,
    body: () => ({ action: 'pause' }),
    answer: { status: 'PAUSED' },
  },
  {
    route: 'POST /api/sessions/{open}/extend',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'requests an extension',
    before: reopen,
    body: () => ({ additionalMinutes: 15 }),
    answer: { message: expect.any(String) },
  },
  {
    route: 'GET /api/sessions/{session}/messages',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'lists the chat messages',
    answer: list('messages'),
  },
  {
    route: 'POST /api/sessions/{session}/messages',
    who: 'owner',
    accepts: 'S or K',
    status: 201,
    purpose: 'sends a chat message',
    body: () => ({ body: 'Thank you' }),
    answer: { body: 'Thank you', sender_role: 'client' },
  },
  {
    route: 'POST /api/sessions/{unrated}/rate',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'rates a completed session from 1 to 5 stars with an optional comment',
    before: async () => {
      unratedId = await unrated()
    },
    body: () => ({ rating: 5, comment: 'Thanks' }),
    answer: { rating: 5 },
  },
  {
    route: 'POST /api/sessions/export',
    who: 'owner',
    accepts: 'S or K',
    purpose: 'exports session data',
    body: () => ({ format: 'json' }),
    answer: list('sessions'),
  },
]

/** Ends the open sessions of the operator and starts a new one. */
async function reopen(): Promise<void> {
  const open = await scenario.operator.get('/api/sessions?limit=100')
  for (const { id, status } of open.body.sessions) {
    if (status === 'ACTIVE' || status === 'PAUSED') {
      await scenario.operator.patch(`/api/sessions/${id}`, { action: 'end' })
    }
  }
  openId = await start(scenario.operator, (await scenario.availableRobot()).id)
}
let openId = ''

async function call(row: Row, credential: Credential): Promise<Response> {
  const [method, pattern] = row.route.split(' ') as [string, string]
  const path = pattern
    .replace('{session}', scenario.completedSessionId)
    .replace('{open}', openId)
    .replace('{unrated}', unratedId)
  const body = row.body?.()
  const { token } = scenario[row.who]
  const isForm = body instanceof FormData
  return await fetch(scenario.world.baseUrl + path, {
    method,
    headers: {
      ...(credential === 'session as Bearer' && { Authorization: `Bearer ${token}` }),
      ...(credential === 'session as cookie' && {
        Cookie: `__session=${token}`,
        Origin: scenario.world.baseUrl,
      }),
      ...(credential === 'API key' && { Authorization: `Bearer ${keys[row.who]}` }),
      ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  })
}

const credentials: readonly Credential[] = ['session as Bearer', 'session as cookie', 'API key']
/** Names rows as `GET /api/x (S or K): what it does`. */
const named = (rows: readonly Row[]) =>
  rows.map((row) => [`${row.route} (${row.accepts}): ${row.purpose}`, row] as const)
const matching = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && !('asymmetricMatch' in answer)
    ? expect.objectContaining(answer)
    : answer

async function checkRow(row: Row): Promise<void> {
  for (const credential of credentials) {
    await row.before?.()
    const response = await call(row, credential)
    const text = await response.text()
    const refused = credential === 'API key' && row.accepts === 'S'
    expect(response.status, `${credential}: ${text}`).toBe(refused ? 403 : (row.status ?? 200))
    expect(JSON.parse(text), credential).toEqual(
      refused ? { error: expect.any(String) } : matching(row.answer),
    )
  }
}

describe.each([
  ['Auth endpoints', auth],
  ['Client endpoints', client],
  ['Operator endpoints', operator],
  ['Session endpoints', sessions],
] as const)('%s', (_title, rows) => {
  test.each(named(rows))('%s', (_name, row) => checkRow(row))
})

describe('Public endpoints', () => {
  const json = { 'Content-Type': 'application/json' }
  const post = (path: string, body: unknown) =>
    fetch(scenario.world.baseUrl + path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const get = (path: string) => fetch(scenario.world.baseUrl + path)
  const message = {
    category: 'Other',
    subject: 'Hello',
    message: 'Hi',
    name: 'Ada',
    email: 'ada@example.org',
  }

  test.each<[name: string, ask: () => Promise<Response>, status: number, answer: Record<string, unknown>]>([
    ['GET /api/health: the API and its database', () => get('/api/health'), 200, { status: 'ok', db: 'ok' }],
    [
      'GET /api/robots/{id}: public information about a supported model',
      () => get('/api/robots/so-101'),
      200,
      { id: 'so-101', name: expect.any(String), manufacturer: expect.any(String) },
    ],
    [
      'GET /api/public/pricing: the current pricing plans',
      () => get('/api/public/pricing'),
      200,
      { currency: 'EUR', plans: expect.any(Array) },
    ],
    [
      'POST /api/contact: submits a contact form message',
      () => post('/api/contact', message),
      201,
      { success: true, message: expect.any(String), id: expect.any(String), stored: true, delivered: false },
    ],
    [
      'POST /api/robot-request: requests support for a robot type',
      () => post('/api/robot-request', { email: 'ada@example.org', robot_type: 'Hexapod' }),
      201,
      { success: true, message: expect.any(String), id: expect.any(String) },
    ],
    [
      'GET /api/stats: public platform statistics',
      () => get('/api/stats'),
      200,
      { robots_total: expect.any(Number), sessions_completed: expect.any(Number) },
    ],
  ])('%s', async (_name, ask, status, answer) => {
    const response = await ask()
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual(expect.objectContaining(answer))
  })
})

describe('GET /api/sessions', () => {
  const listOf = (user: TestUser, query: string) => user.get(`/api/sessions${query}`)

  test('status: filters; omitted lists all', async () => {
    const [all, over] = [await listOf(scenario.owner, ''), await listOf(scenario.owner, '?status=COMPLETED')]
    expect(all.body.sessions.length).toBeGreaterThan(over.body.sessions.length)
    for (const session of over.body.sessions) expect(session.status).toBe('COMPLETED')
  })
  test('limit: the page size', async () => {
    expect((await listOf(scenario.owner, '?limit=1')).body.sessions).toHaveLength(1)
  })
  test('offset: skips the newest', async () => {
    const ids = (await listOf(scenario.owner, '')).body.sessions.map(({ id }: { id: string }) => id)
    const skipped = (await listOf(scenario.owner, '?offset=1')).body.sessions
    expect(skipped.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1))
  })
})

describe('POST /api/sessions', () => {
  test('robotId: required', async () => {
    expect((await scenario.operator.post('/api/sessions', {})).status).toBe(400)
  })
  test('robotId: the robot must be AVAILABLE', async () => {
    const driver = await scenario.world.operator()
    const reply = await driver.post('/api/sessions', { robotId: scenario.newRobot.id })
    expect(reply).toMatchObject({ status: 409, body: { error: expect.stringContaining('not available') } })
    expect((await driver.post('/api/sessions', { robotId: randomUUID() })).status).toBe(404)
  })
  test('operatorId: defaults to the authenticated operator', async () => {
    const driver = await scenario.world.operator()
    const { id } = await scenario.availableRobot()
    const { sessionId } = (await driver.post('/api/sessions', { robotId: id })).body
    expect((await driver.get(`/api/sessions/${sessionId}`)).body.operator_name).toBe(driver.name)
  })
  test('scheduledFor: schedules instead of starting', async () => {
    const driver = await scenario.world.operator()
    const { id } = await scenario.availableRobot()
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const reply = await driver.post('/api/sessions', { robotId: id, scheduledFor })
    expect(reply).toMatchObject({ status: 201, body: { status: 'PENDING' } })
  })
})

describe('POST /api/sessions/{id}/extend', () => {
  test('id: of a session of the client', async () => {
    const reply = await scenario.owner.post(`/api/sessions/${randomUUID()}/extend`, { additionalMinutes: 5 })
    expect(reply.status).toBe(404)
  })
  test('additionalMinutes: a required number', async () => {
    await reopen()
    for (const body of [{}, { additionalMinutes: '15' }, { additionalMinutes: 0 }]) {
      expect((await scenario.owner.post(`/api/sessions/${openId}/extend`, body)).status).toBe(400)
    }
  })
})
