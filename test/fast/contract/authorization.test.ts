import { randomUUID } from 'node:crypto'
import { exampleIds, type HubCommandName, hubCommands } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { io } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../../src/app/api.ts'
import { generateApiKey } from '../../../src/modules/identity/api-keys/api-key-format.ts'
import { type FakeStripe, startStripe } from '../../support/stripe/server.ts'
import { datasetsOf, storeEpisode } from '../../support/world/episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/**
 * All kinds of callers: the client and the operator of the session and robot in question, both also with an API key,
 * others of their roles, an admin with either credential, and a user without any role.
 */
const callers = [
  'client',
  'operator',
  'client key',
  'operator key',
  'other client',
  'other operator',
  'admin',
  'admin key',
  'no role',
] as const
type Caller = (typeof callers)[number]
type Statuses = Record<Caller, number>

/** The id of a publisher or a viewer that does not exist. */
const RESOURCE = `${randomUUID()}.${randomUUID()}`

const everyone = (status: number) => Object.fromEntries(callers.map((caller) => [caller, status])) as Statuses
/** Expects session tokens to pass and API keys to be refused. */
const sessionOnly = (status: number): Statuses => ({
  ...everyone(status),
  'client key': 403,
  'operator key': 403,
  'admin key': 403,
})
/** Expects clients to pass; `foreign` is the status for another client, who does not own the object. */
const clients = (status: number, foreign = status): Statuses => ({
  ...everyone(403),
  client: status,
  'client key': status,
  'other client': foreign,
})
const operators = (status: number, foreign = status): Statuses => ({
  ...everyone(403),
  operator: status,
  'operator key': status,
  'other operator': foreign,
})
/** Expects clients to pass with a session token only. */
const clientsWithSessionToken = (status: number): Statuses => ({ ...clients(status), 'client key': 403 })
const operatorsWithSessionToken = (status: number): Statuses => ({
  ...operators(status),
  'operator key': 403,
})
const admins = (status: number): Statuses => ({ ...everyone(403), admin: status, 'admin key': status })
/** Expects both sides of a session and admins to pass, and 404 for all other callers. */
const participants = (status: number, forAdmins = status): Statuses => ({
  ...everyone(404),
  client: status,
  'client key': status,
  operator: status,
  'operator key': status,
  admin: forAdmins,
  'admin key': forAdmins,
})

interface Attempt {
  readonly path?: string
  readonly body?: unknown
}
interface Rule {
  readonly expected: Statuses | 'public'
  /** The status of a public route; 200 by default. */
  readonly answers?: number
  /** The same with the token of the robot; equal to `answers` by default. */
  readonly answersRobot?: number
  /** Creates the objects of an attempt. An attempt that succeeds uses them up; refused callers share them. */
  readonly attempt?: () => Attempt | Promise<Attempt>
}

let stripe: FakeStripe
let world: World
let client: TestUser
let operator: TestUser
let admin: TestUser
let robot: { id: string; token: string }
let sessionId: string
let avatarPath: string
let tokens: Record<Caller, string>
let users: Record<'other client' | 'other operator' | 'no role', TestUser>
let serial = 0

beforeAll(async () => {
  stripe = await startStripe()
  world = await createWorld({ env: { ...stripe.env, WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  ;[client, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  users = {
    'other client': await world.client(),
    'other operator': await world.operator(),
    'no role': await world.newUser(),
  }
  for (const item of [operator, users['other operator']]) {
    await item.post('/api/operator/profile', { country: 'DE' })
  }
  tokens = {
    client: client.token,
    operator: operator.token,
    admin: admin.token,
    'client key': (await client.key()).key,
    'operator key': (await operator.key()).key,
    'admin key': (await admin.key()).key,
    'no role': users['no role'].token,
    'other client': users['other client'].token,
    'other operator': users['other operator'].token,
  }
  robot = await world.robot(client)
  await storeEpisode((await world.connect(robot)).beat())
  sessionId = await scheduled() // notifies the client
  await certified() // notifies the operator
  avatarPath = await uploadedAvatar()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await stripe[Symbol.asyncDispose]()
})

/** Adds a camera of the robot, as its first publication does. */
const addCamera = (name: string, position: number) =>
  world.platform.core.db
    .insertInto('cameras')
    .values({ robot_id: robot.id, name, position })
    .onConflict((conflict) => conflict.columns(['robot_id', 'name']).doNothing())
    .execute()

/** The only stream of the recording. */
const STREAM = randomUUID()
/** Returns the id of a finished recording of the session, one of whose segments is still stored. */
async function recorded(): Promise<string> {
  const { db } = world.platform.core
  const known = await db
    .selectFrom('recordings')
    .select('id')
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
  if (known) return known.id
  const id = randomUUID()
  const users = { client_id: client.id, operator_id: operator.id }
  const file = { status: 'READY' as const, file_key: `recordings/${id}/recording.mcap` }
  const times = { started_at: new Date(), ended_at: new Date() }
  await db
    .insertInto('recordings')
    .values({ id, session_id: sessionId, robot_id: robot.id, ...users, mode: 'control', ...file, ...times })
    .execute()
  await db
    .insertInto('recording_streams')
    .values({
      id: STREAM,
      recording_id: id,
      source: 'gateway',
      origin_id: STREAM,
      node_id: id,
      opened_at: new Date(),
    })
    .execute()
  const object_key = `recordings/${id}/segments/0.mcap`
  const size = { messages: 1, size_bytes: 1, sha256: '', last_ms: 0 }
  await db
    .insertInto('recording_segments')
    .values({
      stream_id: STREAM,
      number: 0,
      recording_id: id,
      from_at: new Date(),
      to_at: new Date(),
      ...size,
      object_key,
    })
    .execute()
  for (const key of [file.file_key, object_key])
    await world.platform.recordings.store.put(key, new Uint8Array(1))
  return id
}
/** Returns the path of a new link of the recording. */
async function shared(): Promise<string> {
  const id = await recorded()
  const reply = await client.post(`/api/recordings/${id}/shares`, { expires_in_hours: 1 })
  expect(reply.status).toBe(201)
  return `/api/recordings/${id}/shares/${reply.body.id}`
}
/** Expects the owner of the robot and admins to pass, and 404 for all other callers. */
const owners = (status: number): Statuses => ({
  ...participants(status),
  operator: 404,
  'operator key': 404,
})
/** Inserts an export of a dataset that belongs to the client. */
async function datasetExported(): Promise<string> {
  const id = crypto.randomUUID()
  await sql`
    insert into dataset_exports (id, user_id, format, name, version, fps, episode_ids, state, status, error, created_at, finished_at)
    values (${id}, ${client.id}, 'lerobot_v3', 'cubes', ${++serial}, 30, '[]', '{}', 'FAILED', 'Gone', now(), now())`.execute(
    world.platform.core.db,
  )
  return id
}

let bookings = 0
/** Returns an hour for which no session is planned. */
const freeHour = () => new Date(Date.now() + ++bookings * 61 * 60_000).toISOString()
/** Schedules a new session between the client and the operator. */
async function scheduled(): Promise<string> {
  const reply = await operator.post('/api/sessions', { robotId: robot.id, scheduledFor: freeHour() })
  expect(reply.status).toBe(201)
  return reply.body.sessionId
}
async function requested(): Promise<string> {
  const reply = await operator.post('/api/operator/certifications', { robot_type: `type-${++serial}` })
  expect(reply.status).toBe(201)
  return reply.body.id
}
async function certified(): Promise<string> {
  const reply = await admin.post(`/api/admin/certifications/${await requested()}/approve`)
  expect(reply.status).toBe(200)
  return reply.body.id
}
/** Expects the user of an export to pass, and 404 for all other callers. */
const ownExport = (status: number): Statuses => ({ ...everyone(404), client: status, 'client key': status })
const removeExports = () => world.platform.core.db.deleteFrom('session_exports').execute()
/** Gives every user as many stored exports as possible. */
async function fillExports(): Promise<void> {
  await removeExports()
  await sql`
    insert into session_exports (id, user_id, format, request, total_rows, created_at, expires_at)
    select gen_random_uuid(), id, 'csv', '{"filter": {}, "roles": []}', 0, now(), now() + interval '1 day'
    from users, generate_series(1, 5)`.execute(world.platform.core.db)
}
/** Returns the id of a finished export of the client. */
async function exported(): Promise<string> {
  await removeExports()
  const made = await client.post('/api/session-exports', { format: 'csv' })
  await waitFor(async () => {
    expect((await client.get(`/api/session-exports/${made.body.id}`)).body.status).toBe('READY')
  })
  return made.body.id
}
/** Returns a form with the smallest picture, a black dot. */
function pictureForm(): FormData {
  const dot =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const form = new FormData()
  form.append('avatar', new Blob([Uint8Array.from(Buffer.from(dot, 'base64'))]), 'dot.png')
  return form
}
/** Uploads an avatar for a user outside the attempts, so that no attempt replaces it. */
async function uploadedAvatar(): Promise<string> {
  const response = await fetch(`${world.baseUrl}/api/auth/avatar`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${(await world.newUser()).token}` },
    body: pictureForm(),
  })
  const { avatar_url } = (await response.json()) as { avatar_url: string }
  return new URL(avatar_url).pathname
}
/** Creates an invoice of the client for an unused month. */
async function invoiced(): Promise<string> {
  const id = crypto.randomUUID()
  await world.platform.core.db
    .insertInto('invoices')
    .values({
      id,
      client_id: client.id,
      month: `${2100 + ++serial}-01`,
      status: 'DRAFT',
      currency: 'EUR',
      total_cents: 0,
      session_count: 0,
      minutes: 0,
    })
    .execute()
  return id
}
/** Replaces the webhooks of the client with one to a closed port. */
async function hooked(): Promise<string> {
  for (const { id } of (await client.get('/api/webhooks')).body.webhooks)
    await client.delete(`/api/webhooks/${id}`)
  const reply = await client.post('/api/webhooks', { url: 'http://127.0.0.1:9/' })
  expect(reply.status).toBe(201)
  return reply.body.id
}
/** Creates an abandoned test delivery of the webhook and returns its path. */
async function undelivered(): Promise<string> {
  const webhookId = await hooked()
  const { body } = await client.post(`/api/webhooks/${webhookId}/test`)
  await client.patch(`/api/webhooks/${webhookId}`, { enabled: false })
  await client.patch(`/api/webhooks/${webhookId}`, { enabled: true })
  return `/api/webhooks/${webhookId}/deliveries/${body.id}`
}
/** Expects the owner of the webhook to pass with either credential, and 404 for all other callers. */
const ownHook = (status: number): Statuses => ({ ...everyone(404), client: status, 'client key': status })
const newRobot = () => ({ name: 'Arm', robot_type: 'testbot', hardware_id: `auth-${++serial}` })
const ofSession = (tail = '', body?: unknown) => ({ path: `/api/sessions/${sessionId}${tail}`, body })

const rules: Record<string, Rule> = {
  'GET /api/health': { expected: 'public' },
  'GET /api/auth/cli': { expected: 'public' },
  'GET /api/openapi.json': { expected: 'public' },

  'GET /api/auth/profile': { expected: everyone(200) },
  'POST /api/auth/profile': { expected: everyone(200), attempt: () => ({ body: {} }) },
  'POST /api/auth/sync': { expected: sessionOnly(200) },
  'GET /api/auth/check-onboarding': { expected: sessionOnly(200) },
  'GET /api/auth/api-keys': { expected: sessionOnly(200) },
  'POST /api/auth/api-keys': { expected: sessionOnly(201), attempt: () => ({ body: { name: 'x' } }) },
  'DELETE /api/auth/api-keys/{id}': {
    expected: { ...sessionOnly(404), client: 204 },
    attempt: async () => ({ path: `/api/auth/api-keys/${(await client.key()).id}` }),
  },

  'GET /api/client/robots': { expected: clients(200) },
  'GET /api/client/robot-counts': { expected: clients(200) },
  'POST /api/client/robots': { expected: clients(201), attempt: () => ({ body: newRobot() }) },
  'GET /api/client/robots/{id}': {
    expected: clients(200, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}` }),
  },
  'PATCH /api/client/robots/{id}': {
    expected: clients(200, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}`, body: { notes: 'x' } }),
  },
  'DELETE /api/client/robots/{id}': {
    expected: clients(204, 404),
    attempt: async () => ({ path: `/api/client/robots/${(await world.robot(client)).id}` }),
  },
  'GET /api/client/robots/{id}/health': {
    expected: clients(200, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/health` }),
  },
  'GET /api/client/robots/{id}/logs': {
    expected: clients(200, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/logs` }),
  },
  'POST /api/client/robots/{id}/token': {
    expected: clients(201, 404),
    attempt: async () => ({ path: `/api/client/robots/${(await world.robot(client)).id}/token` }),
  },

  'POST /api/client/robots/{id}/pairing-code': {
    expected: clients(201, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/pairing-code` }),
  },
  'POST /api/pairing': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ body: { code: '22222-22222' } }),
  },
  // Robots and viewers bring their own credentials, which test/full/video checks. JSON is refused before them.
  'POST /api/robots/{id}/whip/{camera}': {
    expected: 'public',
    answers: 415,
    attempt: () => ({ path: `/api/robots/${robot.id}/whip/front`, body: {} }),
  },
  'PATCH /api/robots/{id}/whip/{camera}/{resource}': {
    expected: 'public',
    answers: 415,
    attempt: () => ({ path: `/api/robots/${robot.id}/whip/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/robots/{id}/whip/{camera}/{resource}': {
    expected: 'public',
    answers: 401,
    answersRobot: 404,
    attempt: () => ({ path: `/api/robots/${robot.id}/whip/front/${RESOURCE}` }),
  },
  'GET /api/sessions/{id}/cameras': {
    expected: participants(200),
    attempt: () => ({ path: `/api/sessions/${sessionId}/cameras` }),
  },
  'POST /api/sessions/{id}/whep/{camera}': {
    expected: 'public',
    answers: 415,
    attempt: () => ({ path: `/api/sessions/${sessionId}/whep/front`, body: {} }),
  },
  'PATCH /api/sessions/{id}/whep/{camera}/{resource}': {
    expected: 'public',
    answers: 415,
    attempt: () => ({ path: `/api/sessions/${sessionId}/whep/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/sessions/{id}/whep/{camera}/{resource}': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ path: `/api/sessions/${sessionId}/whep/front/${RESOURCE}` }),
  },
  'GET /api/recordings': { expected: everyone(200) },
  'GET /api/recordings/{id}': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}` }),
  },
  'GET /api/sessions/{id}/recording': {
    expected: participants(200),
    attempt: async () => {
      await recorded()
      return { path: `/api/sessions/${sessionId}/recording` }
    },
  },
  'GET /api/recordings/{id}/parts': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/parts` }),
  },
  'GET /api/recordings/{id}/file': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/file` }),
  },
  'GET /api/recordings/{id}/segments/{stream}/{number}': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/segments/${STREAM}/0` }),
  },
  'GET /api/recordings/{id}/downloads': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/downloads` }),
  },
  'POST /api/recordings/{id}/shares': {
    expected: owners(201),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/shares`, body: {} }),
  },
  'GET /api/recordings/{id}/shares': {
    expected: owners(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/shares` }),
  },
  'DELETE /api/recordings/{id}/shares/{share}': {
    expected: owners(204),
    attempt: async () => ({ path: await shared() }),
  },
  'GET /api/recordings/{id}/bookmarks': {
    expected: participants(200),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}/bookmarks` }),
  },
  'POST /api/recordings/{id}/bookmarks': {
    expected: participants(201),
    attempt: async () => ({
      path: `/api/recordings/${await recorded()}/bookmarks`,
      body: { at: new Date().toISOString(), label: 'here' },
    }),
  },
  'DELETE /api/recordings/{id}/bookmarks/{bookmark}': {
    expected: participants(204),
    attempt: async () => {
      const path = `/api/recordings/${await recorded()}/bookmarks`
      const { body } = await operator.post(path, { at: new Date().toISOString(), label: 'here' })
      return { path: `${path}/${body.id}` }
    },
  },
  'DELETE /api/recordings/{id}': {
    expected: owners(204),
    attempt: async () => ({ path: `/api/recordings/${await recorded()}` }),
  },
  // The token in the path is the credential.
  'GET /api/shared/recordings/{token}': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}` }),
  },
  'GET /api/shared/recordings/{token}/parts': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/parts` }),
  },
  'GET /api/shared/recordings/{token}/file': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/file` }),
  },
  'GET /api/shared/recordings/{token}/segments/{stream}/{number}': {
    expected: 'public',
    answers: 404,
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/segments/${randomUUID()}/0` }),
  },
  'GET /api/sessions/{id}/episodes': {
    expected: participants(200),
    attempt: () => ({ path: `/api/sessions/${sessionId}/episodes` }),
  },
  // The session is only planned; test/fast/recordings marks episodes in open ones.
  'POST /api/sessions/{id}/episodes': {
    expected: participants(409),
    attempt: () => ({ path: `/api/sessions/${sessionId}/episodes`, body: { action: 'start' } }),
  },
  'GET /api/client/robots/{id}/cameras': {
    expected: clients(200, 404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/cameras` }),
  },
  'PATCH /api/client/robots/{id}/cameras/{camera}': {
    expected: clients(200, 404),
    attempt: async () => {
      await addCamera('front', 0)
      return { path: `/api/client/robots/${robot.id}/cameras/front`, body: { label: 'Front' } }
    },
  },
  'DELETE /api/client/robots/{id}/cameras/{camera}': {
    expected: clients(204, 404),
    attempt: async () => {
      await addCamera('rear', 1)
      return { path: `/api/client/robots/${robot.id}/cameras/rear` }
    },
  },
  'POST /api/client/robots/{id}/whep/{camera}': {
    expected: clients(415),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/whep/front`, body: {} }),
  },
  'PATCH /api/client/robots/{id}/whep/{camera}/{resource}': {
    expected: clients(415),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/whep/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/client/robots/{id}/whep/{camera}/{resource}': {
    expected: clients(404),
    attempt: () => ({ path: `/api/client/robots/${robot.id}/whep/front/${RESOURCE}` }),
  },
  'GET /api/operator/robots/{id}': {
    expected: operators(200),
    attempt: () => ({ path: `/api/operator/robots/${robot.id}` }),
  },

  'GET /api/client/datasets': { expected: clients(200) },
  'GET /api/client/datasets/{id}/episodes': {
    expected: clients(200, 404),
    attempt: async () => ({ path: `/api/client/datasets/${(await datasetsOf(client))[0].id}/episodes` }),
  },

  'POST /api/payments/customer': { expected: clientsWithSessionToken(200) },
  'POST /api/payments/setup-intent': { expected: clientsWithSessionToken(201) },
  'POST /api/payments/portal': { expected: clientsWithSessionToken(201) },
  'GET /api/payments/connect': { expected: operatorsWithSessionToken(200) },
  'POST /api/payments/connect': { expected: operatorsWithSessionToken(200) },
  'GET /api/payments/payout': { expected: operatorsWithSessionToken(200) },
  'POST /api/payments/webhook': { expected: 'public', answers: 400, attempt: () => ({ body: {} }) }, // unsigned
  'POST /api/payments/payout': { expected: operatorsWithSessionToken(409) }, // without earnings

  'GET /api/operator/certifications': { expected: operators(200) },
  'POST /api/operator/certifications': {
    expected: operators(201),
    attempt: () => ({ body: { robot_type: `type-${++serial}` } }),
  },
  'GET /api/operator/available-robots': { expected: operators(200) },
  'GET /api/operator/available-robot-counts': { expected: operators(200) },
  'PATCH /api/admin/robot-models/{id}': {
    expected: admins(200),
    attempt: async () => ({ path: '/api/admin/robot-models/ur5e', body: { control_schema: null } }),
  },
  'GET /api/admin/certifications': { expected: admins(200) },
  'POST /api/admin/certifications/{id}/approve': {
    expected: admins(200),
    attempt: async () => ({ path: `/api/admin/certifications/${await requested()}/approve` }),
  },
  'POST /api/admin/certifications/{id}/reject': {
    expected: admins(200),
    attempt: async () => ({
      path: `/api/admin/certifications/${await requested()}/reject`,
      body: { reason: 'Not yet' },
    }),
  },
  'POST /api/admin/certifications/{id}/revoke': {
    expected: admins(200),
    attempt: async () => ({
      path: `/api/admin/certifications/${await certified()}/revoke`,
      body: { reason: 'No longer' },
    }),
  },
  'DELETE /api/auth/roles/{role}': {
    // Clients have robots here.
    expected: { ...everyone(404), client: 409, 'client key': 409, 'other client': 409 },
    attempt: async () => {
      await world.robot(users['other client'])
      return { path: '/api/auth/roles/client' }
    },
  },
  'DELETE /api/admin/users/{id}/roles/{role}': {
    expected: admins(204),
    attempt: async () => ({ path: `/api/admin/users/${(await world.operator()).id}/roles/operator` }),
  },
  'GET /api/admin/sessions': { expected: admins(200) },
  'GET /api/admin/robots': { expected: admins(200) },
  'GET /api/admin/users': { expected: admins(200) },
  'GET /api/admin/users/{id}': {
    expected: admins(200),
    attempt: () => ({ path: `/api/admin/users/${client.id}` }),
  },
  'POST /api/admin/users/{id}/suspend': {
    expected: admins(204),
    attempt: async () => ({
      path: `/api/admin/users/${(await world.newUser()).id}/suspend`,
      body: { reason: 'Unsafe driving' },
    }),
  },
  'POST /api/admin/users/{id}/restore': {
    expected: admins(409), // the user is not suspended
    attempt: () => ({ path: `/api/admin/users/${client.id}/restore` }),
  },
  'POST /api/admin/users/{id}/roles/{role}': {
    expected: admins(404), // no content was removed from them
    attempt: () => ({ path: `/api/admin/users/${client.id}/roles/client` }),
  },

  'POST /api/auth/avatar': { expected: sessionOnly(200), attempt: () => ({ body: pictureForm() }) },
  'GET /media/avatars/{name}.webp': {
    expected: 'public',
    attempt: () => ({ path: avatarPath }),
  },
  'GET /api/client/profile': { expected: clients(200) },
  'PATCH /api/client/profile': { expected: clients(200), attempt: () => ({ body: { country: 'DE' } }) },
  'GET /api/operator/profile': { expected: operators(200) },
  'POST /api/operator/profile': { expected: operators(200), attempt: () => ({ body: {} }) },
  'GET /api/operator/schedule': { expected: operators(200) },
  'POST /api/operator/schedule': {
    expected: operators(200),
    attempt: () => ({ body: { timezone: 'UTC', slots: [] } }),
  },
  'GET /api/operator/availability': { expected: operators(200) },

  'GET /api/admin/audit': { expected: admins(200) },
  'GET /api/admin/overview': { expected: admins(200) },
  'GET /api/admin/jobs': { expected: admins(200) },
  'GET /api/admin/jobs/queues': { expected: admins(200) },
  // The job does not exist, so admins get a conflict.
  'POST /api/admin/jobs/{id}/retry': {
    expected: admins(409),
    attempt: () => ({ path: `/api/admin/jobs/${exampleIds.job}/retry` }),
  },
  'POST /api/admin/jobs/{id}/discard': {
    expected: admins(409),
    attempt: () => ({ path: `/api/admin/jobs/${exampleIds.job}/discard` }),
  },

  'GET /api/public/pricing': { expected: 'public' },
  'GET /api/client/invoices': { expected: clients(200) },
  'GET /api/client/invoices/{id}': {
    expected: clients(200, 404),
    attempt: async () => ({ path: `/api/client/invoices/${await invoiced()}` }),
  },
  'GET /api/client/live-robots': { expected: clients(200) },
  'GET /api/client/overview': { expected: clients(200) },
  'GET /api/operator/overview': { expected: operators(200) },
  'GET /api/client/stats': { expected: clients(200) },
  'GET /api/operator/stats': { expected: operators(200) },
  'POST /api/admin/clients/{id}/plan': {
    expected: admins(200),
    attempt: () => ({ path: `/api/admin/clients/${client.id}/plan`, body: { plan: 'fleet' } }),
  },
  'GET /api/stats': { expected: 'public' },
  'GET /api/search': { expected: everyone(200), attempt: () => ({ path: '/api/search?q=robot' }) },
  'GET /api/robots': { expected: 'public', attempt: () => ({ path: '/api/robots' }) },
  'GET /api/robots/{id}': { expected: 'public', attempt: () => ({ path: '/api/robots/so-101' }) },
  'POST /api/contact': {
    expected: 'public',
    answers: 201,
    attempt: () => ({
      body: { name: 'A', email: 'a@example.com', category: 'Other', subject: 'x', message: 'x' },
    }),
  },
  'POST /api/robot-request': {
    expected: 'public',
    answers: 201,
    attempt: () => ({ body: { email: 'a@example.com', robot_type: 'x' } }),
  },
  'GET /api/admin/contact-messages': { expected: admins(200) },
  'GET /api/admin/robot-requests': { expected: admins(200) },

  'GET /api/sessions': { expected: everyone(200) },
  'GET /api/session-counts': { expected: everyone(200) },
  'GET /api/session-robots': { expected: everyone(200) },
  'POST /api/sessions': {
    // An admin must name an operator to start for; this request names none.
    expected: { ...operators(201), admin: 400, 'admin key': 400 },
    attempt: () => ({ body: { robotId: robot.id, scheduledFor: freeHour() } }),
  },
  'GET /api/sessions/{id}': { expected: participants(200), attempt: () => ofSession() },
  'PATCH /api/sessions/{id}': {
    expected: participants(200, 403),
    attempt: async () => ({ path: `/api/sessions/${await scheduled()}`, body: { action: 'cancel' } }),
  },
  'GET /api/sessions/{id}/messages': { expected: participants(200), attempt: () => ofSession('/messages') },
  'POST /api/sessions/{id}/messages': {
    expected: participants(201),
    attempt: () => ofSession('/messages', { body: 'hello' }),
  },
  'GET /api/sessions/{id}/events': { expected: participants(200), attempt: () => ofSession('/events') },

  // The session is only planned, so the permitted callers get a conflict.
  'POST /api/sessions/{id}/extend': {
    expected: { ...participants(403), client: 409, 'client key': 409 },
    attempt: () => ofSession('/extend', { additionalMinutes: 5 }),
  },
  'POST /api/sessions/{id}/rate': {
    expected: clients(409, 404),
    attempt: () => ofSession('/rate', { rating: 5 }),
  },
  'POST /api/sessions/{id}/ticket': {
    expected: participants(409),
    attempt: () => ofSession('/ticket', { part: 'watch' }),
  },
  'POST /api/sessions/{id}/foxglove': {
    expected: participants(409),
    attempt: () => ofSession('/foxglove', {}),
  },
  'POST /api/sessions/export': { expected: everyone(200), attempt: () => ({ body: { format: 'csv' } }) },

  'POST /api/session-exports/count': {
    expected: everyone(200),
    attempt: () => ({ body: { format: 'csv' } }),
  },
  'POST /api/session-exports': {
    // Every user has as many exports as possible, because a finished one would notify its user.
    expected: everyone(409),
    attempt: async () => {
      await fillExports()
      return { body: { format: 'csv' } }
    },
  },
  'POST /api/client/datasets/exports': {
    expected: clients(404),
    attempt: () => ({
      body: { format: 'lerobot_v3', name: 'cubes', fps: 30, episode_ids: [crypto.randomUUID()] },
    }),
  },
  'GET /api/client/datasets/exports': { expected: clients(200) },
  'GET /api/client/datasets/exports/{id}': {
    expected: clients(200, 404),
    attempt: async () => ({ path: `/api/client/datasets/exports/${await datasetExported()}` }),
  },
  'DELETE /api/client/datasets/exports/{id}': {
    expected: clients(204, 404),
    attempt: async () => ({ path: `/api/client/datasets/exports/${await datasetExported()}` }),
  },
  'GET /api/session-exports': { expected: everyone(200) },
  'GET /api/session-exports/{id}': {
    expected: ownExport(200),
    attempt: async () => ({ path: `/api/session-exports/${await exported()}` }),
  },
  'GET /api/session-exports/{id}/download': {
    expected: ownExport(200),
    attempt: async () => ({ path: `/api/session-exports/${await exported()}/download` }),
  },
  'DELETE /api/session-exports/{id}': {
    expected: ownExport(204),
    attempt: async () => ({ path: `/api/session-exports/${await exported()}` }),
  },

  'GET /api/events': { expected: everyone(200) },
  'GET /api/webhooks': { expected: everyone(200) },
  'POST /api/webhooks': {
    expected: everyone(201),
    attempt: () => ({ body: { url: 'http://127.0.0.1:9/' } }),
  },
  'GET /api/webhooks/{id}': {
    expected: ownHook(200),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}` }),
  },
  'PATCH /api/webhooks/{id}': {
    expected: ownHook(200),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}`, body: { description: 'x' } }),
  },
  'DELETE /api/webhooks/{id}': {
    expected: ownHook(204),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}` }),
  },
  'POST /api/webhooks/{id}/rotate-secret': {
    expected: ownHook(200),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}/rotate-secret` }),
  },
  'POST /api/webhooks/{id}/test': {
    expected: ownHook(202),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}/test` }),
  },
  'POST /api/webhooks/{id}/replay': {
    expected: ownHook(202),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}/replay`, body: { since: freeHour() } }),
  },
  'GET /api/webhooks/{id}/deliveries': {
    expected: ownHook(200),
    attempt: async () => ({ path: `/api/webhooks/${await hooked()}/deliveries` }),
  },
  'GET /api/webhooks/{id}/deliveries/{delivery_id}': {
    expected: ownHook(200),
    attempt: async () => ({ path: await undelivered() }),
  },
  'POST /api/webhooks/{id}/deliveries/{delivery_id}/replay': {
    expected: ownHook(202),
    attempt: async () => ({ path: `${await undelivered()}/replay` }),
  },

  'GET /api/notifications': { expected: everyone(200) },
  'GET /api/notifications/settings': { expected: everyone(200) },
  'PATCH /api/notifications/settings': {
    expected: everyone(200),
    attempt: () => ({ body: { matrix: { money: { mail: true } } } }),
  },
  'POST /api/notifications/read': { expected: everyone(200), attempt: () => ({ body: { up_to: '1' } }) },
  'POST /api/notifications/{id}/read': {
    // The first notification of the caller; only these two users have one.
    expected: {
      ...everyone(404),
      client: 200,
      'client key': 200,
      operator: 200,
      'operator key': 200,
    },
    attempt: () => ({ path: '/api/notifications/1/read' }),
  },
  'GET /api/notifications/push/key': { expected: everyone(200) },
  'GET /api/notifications/push/subscriptions': { expected: everyone(200) },
  'POST /api/notifications/push/subscriptions': {
    expected: everyone(201),
    attempt: () => ({
      body: {
        endpoint: `http://127.0.0.1:9999/${crypto.randomUUID()}`,
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
    }),
  },
  'DELETE /api/notifications/push/subscriptions/{id}': {
    expected: everyone(404),
    attempt: () => ({ path: `/api/notifications/push/subscriptions/${crypto.randomUUID()}` }),
  },
}

test('every route of the API has a rule, and every rule a route', () => {
  const routes = apiEndpoints(world.platform, () => '').map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  )
  expect(Object.keys(rules).sort()).toEqual(routes.sort())
})

/** Creates the objects of one attempt. */
const attemptAt = async (route: string): Promise<Attempt> => (await rules[route]?.attempt?.()) ?? {}

async function perform(
  route: string,
  authorization: string | undefined,
  { path, body }: Attempt,
): Promise<Response> {
  const [method, pattern] = route.split(' ') as [string, string]
  return await fetch(world.baseUrl + (path ?? pattern), {
    method,
    headers: {
      ...(authorization !== undefined && { Authorization: authorization }),
      ...(body !== undefined && !(body instanceof FormData) && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  })
}

/** Returns invalid credentials as values of the Authorization header, by description. */
async function badCredentials(): Promise<Record<string, string | undefined>> {
  const [revoked, expired] = [await client.key(), await client.key()]
  await client.delete(`/api/auth/api-keys/${revoked.id}`)
  await world.platform.core.db
    .updateTable('api_keys')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .where('id', '=', expired.id)
    .execute()
  const key = generateApiKey()
  const [head, payload, signature] = client.token.split('.') as [string, string, string]
  const ofOperator = operator.token.split('.')[1]
  const late = await world.platform.identity.builtIn!.issueDevToken({
    email: 'client1@test.local',
    expiresInSeconds: -60,
  })
  return {
    none: undefined,
    empty: '',
    'no token': 'Bearer',
    'another scheme': `Basic ${Buffer.from('a:b').toString('base64')}`,
    'a bare token': client.token,
    'two tokens': `Bearer ${client.token} ${client.token}`,
    'no JWT': 'Bearer nonsense',
    'a JWT cut short': `Bearer ${head}.${payload}`,
    'a JWT with another payload': `Bearer ${head}.${ofOperator}.${signature}`,
    'an expired token': `Bearer ${late}`,
    'a key with a wrong checksum': `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    'a key that does not exist': `Bearer ${key}`,
    'a revoked key': `Bearer ${revoked.key}`,
    'an expired key': `Bearer ${expired.key}`,
    'a robot’s token': `Bearer ${robot.token}`,
  }
}

/** Headers that differ between any two responses. */
const changing = new Set(['date', 'x-request-id', 'ratelimit', 'ratelimit-policy'])
const anyId = /(?<=\/)(?:[0-9a-f]{8}-[0-9a-f-]{27}|\d+)(?=\/|$)/
const unknownId = (id: string) => (id.includes('-') ? randomUUID() : '999999')

describe('over HTTP', () => {
  let bad: Record<string, string | undefined>
  beforeAll(async () => {
    bad = await badCredentials()
  })

  test.each(Object.keys(rules))('%s admits the expected callers', async (route) => {
    const rule = rules[route] as Rule
    const answers: Record<string, number> = {}
    const expected: Record<string, number> = {}
    let attempt: Attempt | undefined
    for (const caller of callers) {
      attempt ??= await attemptAt(route)
      const response = await perform(route, `Bearer ${tokens[caller]}`, attempt)
      // A refusal changes nothing, so the next caller finds the same objects.
      if (response.ok) attempt = undefined
      answers[caller] = response.status
      expected[caller] = rule.expected === 'public' ? (rule.answers ?? 200) : rule.expected[caller]
      const text = await response.text()
      if (response.status >= 400) expect(JSON.parse(text)).toEqual({ error: expect.any(String) })
    }
    expect(answers).toEqual(expected)
  })

  test.each(Object.keys(rules))('%s admits no caller without a valid credential', async (route) => {
    const { expected, answers = 200, answersRobot = answers } = rules[route] as Rule
    const open = expected === 'public'
    const attempt = await attemptAt(route)
    for (const [what, authorization] of Object.entries(bad)) {
      const response = await perform(route, authorization, attempt)
      const openStatus = what === 'a robot’s token' ? answersRobot : answers
      expect(response.status, what).toBe(open ? openStatus : 401)
      if (open) continue
      expect(response.headers.get('WWW-Authenticate'), what).toBe('Bearer')
      expect(await response.json(), what).toEqual({ error: expect.any(String) })
    }
  })

  /** Routes with an id that some callers must not be able to discover. */
  const hiding = Object.entries(rules)
    .filter(([route, { expected }]) => route.includes('{id}') && Object.values(expected).includes(404))
    .map(([route]) => route)

  test.each(hiding)('%s answers a foreign id and an unknown one with the same bytes', async (route) => {
    const [method, pattern] = route.split(' ') as [string, string]
    const { expected } = rules[route] as Rule
    const { path = pattern, body } = await attemptAt(route)
    const strangers = callers.filter((caller) => (expected as Statuses)[caller] === 404)
    for (const caller of strangers) {
      const responseTo = async (requested: string) => {
        const response = await fetch(world.baseUrl + requested, {
          method,
          headers: { Authorization: `Bearer ${tokens[caller]}`, 'Content-Type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        const headers = [...response.headers].filter(([name]) => !changing.has(name))
        return { status: response.status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
      }
      const foreign = await responseTo(path)
      expect(foreign.status, caller).toBe(404)
      expect(foreign, caller).toEqual(await responseTo(path.replace(anyId, unknownId)))
    }
  })

  test('a credential in the query string is not accepted', async () => {
    for (const name of ['token', 'access_token', 'api_key', 'key']) {
      const response = await fetch(`${world.baseUrl}/api/sessions?${name}=${tokens['client key']}`)
      expect(response.status, name).toBe(401)
    }
  })
})

describe('over the hub', () => {
  type Who = 'client' | 'operator' | 'other client' | 'other operator' | 'admin' | 'no role'
  const all = { client: 200, operator: 200, 'other client': 200, 'other operator': 200 } as const
  const allCallers: Record<Who, number> = { ...all, admin: 200, 'no role': 200 }
  const participant: Record<Who, number> = {
    client: 200,
    operator: 200,
    admin: 200,
    'other client': 404,
    'other operator': 404,
    'no role': 404,
  }
  /** The expected status of each command by caller: 200 for ok, else the status of the refusal. */
  const commands: Record<
    HubCommandName,
    { expected: Record<Who, number>; input: () => unknown | Promise<unknown> }
  > = {
    'session:watch': { expected: participant, input: () => ({ session_id: sessionId }) },
    'session:unwatch': { expected: allCallers, input: () => ({ session_id: sessionId }) },
    'chat:send': {
      expected: participant,
      input: () => ({ session_id: sessionId, body: 'hi', client_message_id: `m${++serial}` }),
    },
    'chat:typing': { expected: participant, input: () => ({ session_id: sessionId }) },
    'session:action': {
      expected: { ...participant, admin: 403 },
      input: async () => ({ session_id: await scheduled(), action: 'cancel' }),
    },
    'notifications:since': { expected: allCallers, input: () => ({}) },
    'robots:watch': { expected: allCallers, input: () => ({}) },
  }
  const testUsers = (): Record<Who, TestUser> => ({ client, operator, admin, ...users })

  test('every command has a rule', () => {
    expect(Object.keys(commands).sort()).toEqual(Object.keys(hubCommands).sort())
  })

  test.each(Object.keys(commands) as HubCommandName[])('%s accepts the expected callers', async (name) => {
    const answers: Record<string, number> = {}
    for (const [who, user] of Object.entries(testUsers())) {
      const socket = await user.hub()
      const ack = await socket.send(name, await commands[name].input())
      answers[who] = ack.ok ? 200 : ack.status
      if (!ack.ok) expect(ack).toEqual({ ok: false, error: expect.any(String), status: ack.status })
      socket.close()
    }
    expect(answers).toEqual(commands[name].expected)
  })

  test('a user who may not watch a session receives nothing of it', async () => {
    const id = await scheduled()
    const observer = await client.hub()
    await observer.send('session:watch', { session_id: id })
    const curious = await Promise.all(Object.values(users).map((user) => user.hub()))
    for (const socket of curious) {
      expect(await socket.send('session:watch', { session_id: id })).toMatchObject({ ok: false, status: 404 })
      await socket.send('robots:watch')
    }
    const typist = await operator.hub()
    await typist.send('chat:typing', { session_id: id })
    await typist.send('chat:send', { session_id: id, body: 'secret', client_message_id: 'm' })
    await observer.saw('chat:typing', { session_id: id })
    await observer.saw('session:event', { session_id: id, type: 'chat.message' })
    for (const socket of curious) {
      await socket.send('notifications:since') // earlier events have arrived by now
      expect(socket.events).toEqual([])
      socket.close()
    }
  })

  test('clients watch their own robots, operators watch robots that require no certification or one that they have', async () => {
    const strict = await world.robot(client, { require_certification: true })
    const followed = async (user: TestUser) => {
      const socket = await user.hub()
      const { robots } = await socket.send('robots:watch')
      socket.close()
      return robots.map((item: { robot_id: string }) => item.robot_id)
    }
    expect(await followed(client)).toEqual(expect.arrayContaining([robot.id, strict.id]))
    for (const user of [operator, admin, ...Object.values(users)]) {
      const isOperator = user === operator || user === users['other operator']
      expect((await followed(user)).includes(robot.id)).toBe(isOperator)
      expect(await followed(user)).not.toContain(strict.id)
    }
    const certified = await world.operator()
    const { id } = (await certified.post('/api/operator/certifications', { robot_type: 'testbot' })).body
    expect(await followed(certified)).not.toContain(strict.id)
    await admin.post(`/api/admin/certifications/${id}/approve`)
    expect(await followed(certified)).toContain(strict.id)
  })

  test('a handshake without a valid credential is refused with 401', async () => {
    const bad = await badCredentials()
    const handshakes: Record<string, Parameters<typeof io>[1]> = {
      none: {},
      'no string': { auth: { token: 7 } },
      'in the query string': { query: { token: client.token } },
    }
    for (const [what, authorization] of Object.entries(bad)) {
      if (authorization === undefined) continue
      handshakes[`header: ${what}`] = { extraHeaders: { Authorization: authorization } }
      const token = authorization.replace(/^Bearer /, '')
      if (token !== client.token) handshakes[`auth.token: ${what}`] = { auth: { token } }
    }
    for (const [what, options] of Object.entries(handshakes)) {
      const socket = io(world.hubUrl, { ...options, transports: ['websocket'], forceNew: true })
      const refusal = await new Promise((resolve) => {
        socket.once('connect_error', resolve)
        socket.once('connect', () => resolve('connected'))
      })
      socket.close()
      expect(refusal, what).toMatchObject({ data: { error: expect.any(String), status: 401 } })
    }
  })

  test('revoking a key disconnects its sockets permanently, and no others', async () => {
    const [revoked, other] = [await client.key(), await client.key()]
    const [socket, otherSocket] = [
      await client.hub({ token: revoked.key }),
      await client.hub({ token: other.key }),
    ]
    expect(await socket.send('robots:watch')).toMatchObject({ ok: true })
    const refused = new Promise<unknown>((resolve) => socket.socket.on('connect_error', resolve))
    await client.delete(`/api/auth/api-keys/${revoked.id}`)

    await expect.poll(() => socket.socket.connected).toBe(false)
    socket.socket.connect()
    expect(await refused).toMatchObject({ data: { status: 401 } })
    expect(await otherSocket.send('robots:watch')).toMatchObject({ ok: true })
  })
})
