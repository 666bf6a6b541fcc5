import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectMcp, type McpClient } from '../../support/mcp/mcp-client.ts'
import { datasetsOf, storeEpisode } from '../../support/world/episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** The two sides of a session, with either credential; others of their roles; an admin; a user without any role. */
const callers = [
  'client',
  'client key',
  'operator',
  'operator key',
  'other client',
  'admin',
  'user without a role',
] as const
type CallerName = (typeof callers)[number]

let world: World
let client: TestUser
let operator: TestUser
let robot: { id: string; token: string }
let sessionId: string
let datasetId: string
let invoiceId: string
let serial = 0
/** A user who does not exist. */
const UNKNOWN = crypto.randomUUID()
const tokens = new Map<CallerName, string>()
const clients = new Map<CallerName, McpClient>()
const tokenOf = (name: CallerName) => tokens.get(name) as string
const mcpOf = (name: CallerName) => clients.get(name) as McpClient

beforeAll(async () => {
  world = await createWorld()
  ;[client, operator] = [await world.client(), await world.operator()]
  tokens.set('client', client.token).set('client key', (await client.key()).key)
  tokens.set('operator', operator.token).set('operator key', (await operator.key()).key)
  tokens.set('other client', (await world.client()).token).set('admin', (await world.admin()).token)
  tokens.set('user without a role', (await world.newUser()).token)
  for (const name of callers) clients.set(name, await connectMcp(world.baseUrl, tokenOf(name)))
  robot = await world.robot(client)
  await storeEpisode((await world.connect(robot)).beat())
  datasetId = (await datasetsOf(client))[0].id
  sessionId = await scheduled()
  invoiceId = await invoiced()
})
afterAll(async () => {
  for (const mcp of clients.values()) await mcp[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Returns a time for which no session is planned. */
const later = () => new Date(Date.now() + (1 + serial++) * 3_660_000).toISOString()
async function scheduled(): Promise<string> {
  const reply = await operator.post('/api/sessions', { robotId: robot.id, scheduledFor: later() })
  expect(reply.status).toBe(201)
  return reply.body.sessionId
}
async function invoiced(): Promise<string> {
  const id = crypto.randomUUID()
  await world.platform.core.db
    .insertInto('invoices')
    .values({
      id,
      client_id: client.id,
      month: '2100-01',
      status: 'DRAFT',
      currency: 'EUR',
      total_cents: 0,
      session_count: 0,
      minutes: 0,
    })
    .execute()
  return id
}

/** The arguments of a tool call, and the equivalent REST request. */
interface Attempt {
  readonly given?: Record<string, unknown>
  readonly path: string
  readonly body?: unknown
}
const of = (given: Record<string, unknown>, path: string, body?: unknown): Attempt => ({ given, path, body })
const callAction = (action: string) => () =>
  of({ sessionId, reason: 'why' }, `PATCH /api/sessions/${sessionId}`, { action, reason: 'why' })
const reading = (path: string) => () => ({ path: `GET ${path}` })
const both = (path: string, body: Record<string, unknown>) => of(body, `POST ${path}`, body)

const attempts: Record<string, () => Attempt | Promise<Attempt>> = {
  list_robots: reading('/api/client/robots'),
  get_robot: () => of({ robotId: robot.id }, `GET /api/client/robots/${robot.id}`),
  register_robot: () =>
    both('/api/client/robots', { name: 'Arm', robot_type: 'testbot', hardware_id: `mcp-${serial++}` }),
  list_available_robots: reading('/api/operator/available-robots'),
  list_robot_models: reading('/api/robots'),
  list_sessions: reading('/api/sessions'),
  get_session: () => of({ sessionId }, `GET /api/sessions/${sessionId}`),
  start_session: () => both('/api/sessions', { robotId: crypto.randomUUID(), operatorId: operator.id }),
  schedule_session: () =>
    both('/api/sessions', { robotId: robot.id, operatorId: operator.id, scheduledFor: later() }),
  pause_session: callAction('pause'),
  end_session: callAction('end'),
  stop_robot: callAction('emergency_stop'),
  decline_extension: callAction('decline_extension'),
  approve_extension: () =>
    of({ sessionId }, `PATCH /api/sessions/${sessionId}`, { action: 'approve_extension' }),
  async cancel_session() {
    const id = await scheduled()
    return of({ sessionId: id }, `PATCH /api/sessions/${id}`, { action: 'cancel' })
  },
  extend_session: () =>
    of({ sessionId, additionalMinutes: 5 }, `POST /api/sessions/${sessionId}/extend`, {
      additionalMinutes: 5,
    }),
  rate_session: () => of({ sessionId, rating: 5 }, `POST /api/sessions/${sessionId}/rate`, { rating: 5 }),
  list_session_events: () => of({ sessionId }, `GET /api/sessions/${sessionId}/events`),
  list_messages: () => of({ sessionId }, `GET /api/sessions/${sessionId}/messages`),
  send_message: () =>
    of({ sessionId, body: 'Hello' }, `POST /api/sessions/${sessionId}/messages`, { body: 'Hello' }),
  list_recordings: reading('/api/recordings'),
  get_recording: () => of({ recordingId: UNKNOWN }, `GET /api/recordings/${UNKNOWN}`),
  list_session_episodes: () => of({ sessionId }, `GET /api/sessions/${sessionId}/episodes`),
  list_dataset_exports: reading('/api/client/datasets/exports'),
  list_datasets: reading('/api/client/datasets'),
  list_episodes: () => of({ datasetId }, `GET /api/client/datasets/${datasetId}/episodes`),
  list_invoices: reading('/api/client/invoices'),
  get_invoice: () => of({ invoiceId }, `GET /api/client/invoices/${invoiceId}`),
  get_pricing: reading('/api/public/pricing'),
  get_client_statistics: reading('/api/client/stats'),
  get_operator_statistics: reading('/api/operator/stats'),
  get_platform_statistics: reading('/api/stats'),
  get_overview: reading('/api/admin/overview'),
  list_users: reading('/api/admin/users'),
  suspend_user: () =>
    of({ userId: UNKNOWN, reason: 'why' }, `POST /api/admin/users/${UNKNOWN}/suspend`, { reason: 'why' }),
  restore_user: () => of({ userId: UNKNOWN }, `POST /api/admin/users/${UNKNOWN}/restore`, {}),
  get_schedule: reading('/api/operator/schedule'),
  replace_schedule: () =>
    both('/api/operator/schedule', {
      timezone: 'Europe/Berlin',
      slots: [{ weekday: 1, start: '09:00', end: '17:00' }],
    }),
  get_availability: reading('/api/operator/availability'),
  list_certifications: reading('/api/operator/certifications'),
  request_certification: () => both('/api/operator/certifications', { robot_type: `type-${serial++}` }),
  get_profile: reading('/api/auth/profile'),
  search: () => of({ q: 'arm' }, 'GET /api/search?q=arm'),
  list_notifications: reading('/api/notifications'),
  mark_notifications_read: () => both('/api/notifications/read', { up_to: '1' }),
}

async function overRest({ path, body }: Attempt, token: string) {
  const [method, target] = path.split(' ') as [string, string]
  const reply = await client.request(method, target, body, token)
  const refused = reply.status >= 400
  return { status: refused ? reply.status : 200, error: refused ? reply.body.error : undefined }
}
async function overMcp(tool: string, { given }: Attempt, mcp: McpClient) {
  const { status, text } = await mcp.use(tool, given)
  return { status, error: status === 200 ? undefined : text }
}

describe('a tool refuses the same callers as REST, with the same error', () => {
  /** Returns callers of a tool. It runs a route for the caller that REST would identify, so a participant, a stranger and an admin are enough. */
  const askedAs = ({ path }: Attempt): CallerName[] =>
    path.includes('/api/admin/') ? ['operator key', 'admin'] : ['operator key', 'other client']

  test.each(Object.entries(attempts))('%s', async (tool, attempt) => {
    const statuses: number[] = []
    for (const name of askedAs(await attempt())) {
      const rest = await overRest(await attempt(), tokenOf(name))
      expect(await overMcp(tool, await attempt(), mcpOf(name)), `${tool} as ${name}`).toEqual(rest)
      statuses.push(rest.status)
    }
    expect(statuses).not.toContain(400)
    expect(statuses).not.toContain(500)
  })

  test('for other invalid calls too', async () => {
    const wrong: [tool: string, given: Record<string, unknown>, path: string, body?: unknown][] = [
      ['get_session', { sessionId: crypto.randomUUID() }, `GET /api/sessions/${crypto.randomUUID()}`],
      ['list_sessions', { limit: 101 }, 'GET /api/sessions?limit=101'],
      ['list_sessions', { status: 'OPEN' }, 'GET /api/sessions?status=OPEN'],
      [
        ...(['list_sessions', { from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }] as const),
        'GET /api/sessions?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z',
      ],
      ['start_session', {}, 'POST /api/sessions', {}],
      [
        ...(['schedule_session', { robotId: robot.id, scheduledFor: '2020-01-01T00:00:00Z' }] as const),
        ...(['POST /api/sessions', { robotId: robot.id, scheduledFor: '2020-01-01T00:00:00Z' }] as const),
      ],
    ]
    for (const [tool, given, path, body] of wrong) {
      const rest = await overRest({ path, body }, operator.token)
      expect(rest.status).toBeGreaterThanOrEqual(400)
      expect(await overMcp(tool, { given, path }, mcpOf('operator')), tool).toEqual(rest)
    }
  })

  test('names the arguments as the tool does', async () => {
    const use = async (tool: string, given: Record<string, unknown>) => {
      const { status, text } = await mcpOf('operator').use(tool, given)
      expect(status).toBe(400)
      return text
    }
    expect(await use('get_session', { sessionId: 'mine' })).toMatch(/^sessionId: /)
    expect(await use('get_session', { sessionId, id: sessionId })).toBe(
      '"id" is not an argument of this tool',
    )
    expect(await use('schedule_session', { robotId: robot.id })).toBe('scheduledFor: is required')
    expect(await use('list_certifications', { limit: 51 })).toMatch(/^limit: /)
    expect(await use('end_session', { sessionId, action: 'resume' })).toBe(
      '"action" is not an argument of this tool',
    )
    expect(await use('start_session', { robotId: robot.id, idempotencyKey: 7 })).toMatch(/^idempotencyKey: /)
    expect(await use('start_session', { robotId: robot.id, idempotencyKey: 'ü' })).toMatch(/printable ASCII/)
  })
})

describe('tools/list', () => {
  test('shows each user the tools of their roles, and no user all of them', async () => {
    const shown = new Map<CallerName, string[]>()
    for (const name of callers) shown.set(name, await mcpOf(name).toolNames())
    const of = (name: CallerName) => shown.get(name) ?? []
    expect([...new Set(callers.flatMap(of))].sort()).toEqual(Object.keys(attempts).sort())
    expect(of('client key')).toEqual(of('client'))
    const [owned, driven] = [of('client'), of('operator')]
    expect(owned).toEqual(
      expect.arrayContaining(['list_robots', 'rate_session', 'stop_robot', 'end_session']),
    )
    expect(driven).toEqual(expect.arrayContaining(['start_session', 'get_schedule', 'stop_robot']))
    for (const tool of ['start_session', 'get_schedule', 'get_overview']) expect(owned).not.toContain(tool)
    for (const tool of ['list_robots', 'rate_session', 'get_overview']) expect(driven).not.toContain(tool)
    expect(of('admin')).toEqual(expect.arrayContaining(['get_overview', 'stop_robot', 'start_session']))
    expect(of('user without a role')).not.toContain('start_session')
  })
})
