import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { generateApiKey } from '../../../src/modules/identity/api-keys/api-key-format.ts'
import { startStripe } from '../stripe/server.ts'
import { storeEpisode } from '../world/episodes.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import { createWorld } from '../world/world.ts'

/**
 * All kinds of callers: the client and the operator of the session and robot in question, both also with an API key,
 * others of their roles, an admin with either credential, and a user without any role.
 */
export const callers = [
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
export type Caller = (typeof callers)[number]

/** A request to a route. The path is that of the route by default. */
export interface Attempt {
  readonly path?: string
  readonly body?: unknown
}

/** The file of an export of a person. */
const EMPTY_EXPORT = JSON.stringify({
  format: 'wheelhouse-data-export',
  version: 1,
  created_at: '2026-11-20T09:00:00.000Z',
  parts: {},
})

/** The only stream of the recording. */
export const STREAM = randomUUID()

/** A platform with a client, their robot, an operator and a planned session of both, and with strangers. */
export type AuthorizationWorld = Awaited<ReturnType<typeof createAuthorizationWorld>>

export async function createAuthorizationWorld() {
  const stripe = await startStripe()
  const world = await createWorld({ env: { ...stripe.env, WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  const { db } = world.platform.core
  const [client, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  const strangers = {
    'other client': await world.client(),
    'other operator': await world.operator(),
    'no role': await world.newUser(),
  }
  for (const item of [operator, strangers['other operator']])
    await item.post('/api/operator/profile', { country: 'DE' })
  const tokens: Readonly<Record<Caller, string>> = {
    client: client.token,
    operator: operator.token,
    admin: admin.token,
    'client key': (await client.key()).key,
    'operator key': (await operator.key()).key,
    'admin key': (await admin.key()).key,
    'no role': strangers['no role'].token,
    'other client': strangers['other client'].token,
    'other operator': strangers['other operator'].token,
  }
  const robot = await world.robot(client)
  await storeEpisode((await world.connect(robot)).beat())

  let serial = 0
  const nextNumber = () => ++serial
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
    const reply = await operator.post('/api/operator/certifications', { robot_type: `type-${nextNumber()}` })
    expect(reply.status).toBe(201)
    return reply.body.id
  }
  async function certified(): Promise<string> {
    const reply = await admin.post(`/api/admin/certifications/${await requested()}/approve`)
    expect(reply.status).toBe(200)
    return reply.body.id
  }
  /** Returns the id of a finished recording of the session, one of whose segments is still stored. */
  async function recorded(): Promise<string> {
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
    const stream = { source: 'gateway', origin_id: STREAM, node_id: id, opened_at: new Date() } as const
    await db
      .insertInto('recording_streams')
      .values({ id: STREAM, recording_id: id, ...stream })
      .execute()
    const object_key = `recordings/${id}/segments/0.mcap`
    const size = { messages: 1, size_bytes: 1, sha256: '', last_ms: 0 }
    const span = { from_at: new Date(), to_at: new Date() }
    await db
      .insertInto('recording_segments')
      .values({ stream_id: STREAM, number: 0, recording_id: id, ...span, ...size, object_key })
      .execute()
    for (const key of [file.file_key, object_key])
      await world.platform.recordings.store.put(key, new Uint8Array(1))
    return id
  }
  const removeExports = () => db.deleteFrom('session_exports').execute()
  /** Replaces the webhooks of the client with one to a closed port. */
  async function hooked(): Promise<string> {
    for (const { id } of (await client.get('/api/webhooks')).body.webhooks)
      await client.delete(`/api/webhooks/${id}`)
    const reply = await client.post('/api/webhooks', { url: 'http://127.0.0.1:9/' })
    expect(reply.status).toBe(201)
    return reply.body.id
  }
  /** Uploads an avatar for a user outside the attempts, so that no attempt replaces it. Returns its path. */
  async function uploadedAvatar(): Promise<string> {
    const response = await fetch(`${world.baseUrl}/api/auth/avatar`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${(await world.newUser()).token}` },
      body: pictureForm(),
    })
    const { avatar_url } = (await response.json()) as { avatar_url: string }
    return new URL(avatar_url).pathname
  }

  const sessionId = await scheduled() // notifies the client
  await certified() // notifies the operator

  return {
    world,
    client,
    operator,
    admin,
    users: strangers,
    tokens,
    robot,
    sessionId,
    avatarPath: await uploadedAvatar(),
    nextNumber,
    freeHour,
    scheduled,
    requested,
    certified,
    recorded,
    hooked,

    newRobot: () => ({ name: 'Arm', robot_type: 'testbot', hardware_id: `auth-${nextNumber()}` }),
    ofSession: (tail = '', body?: unknown): Attempt => ({ path: `/api/sessions/${sessionId}${tail}`, body }),

    /** Adds a camera of the robot, as its first publication does. */
    addCamera: (name: string, position: number) =>
      db
        .insertInto('cameras')
        .values({ robot_id: robot.id, name, position })
        .onConflict((conflict) => conflict.columns(['robot_id', 'name']).doNothing())
        .execute(),

    /** Returns the path of a new link of the recording. */
    async shared(): Promise<string> {
      const id = await recorded()
      const reply = await client.post(`/api/recordings/${id}/shares`, { expires_in_hours: 1 })
      expect(reply.status).toBe(201)
      return `/api/recordings/${id}/shares/${reply.body.id}`
    },

    /** Inserts an export of a dataset that belongs to the client. */
    async datasetExported(): Promise<string> {
      const id = randomUUID()
      await sql`
        insert into dataset_exports (id, user_id, format, name, version, fps, episode_ids, state, status, error, left_out, created_at, finished_at)
        values (${id}, ${client.id}, 'lerobot_v3', 'cubes', ${nextNumber()}, 30, '[]', '{}', 'FAILED', 'Gone', '{"count": 0, "episodes": []}', now(), now())`.execute(
        db,
      )
      return id
    },

    /** Gives every user as many stored exports as possible. */
    async fillExports(): Promise<void> {
      await removeExports()
      await sql`
        insert into session_exports (id, user_id, format, request, total_rows, created_at, expires_at)
        select gen_random_uuid(), id, 'csv', '{"filter": {}, "roles": []}', 0, now(), now() + interval '1 day'
        from users, generate_series(1, 5)`.execute(db)
    },

    /** Removes the exports of people, so that everyone may make one. */
    async removeDataExports(): Promise<Attempt> {
      await db.deleteFrom('data_exports').execute()
      return {}
    },

    /** Returns the id of a finished export of the client's data, which is empty. */
    async dataExported(): Promise<string> {
      const id = randomUUID()
      await sql`
        with made as (
          insert into data_exports (id, user_id, status, bytes, chunks, created_at, finished_at, expires_at)
          values (${id}, ${client.id}, 'READY', ${EMPTY_EXPORT.length}, 1, now(), now(), now() + interval '1 day')
          returning id
        )
        insert into data_export_chunks (export_id, number, data) select id, 0, ${gzipSync(EMPTY_EXPORT)} from made`.execute(
        db,
      )
      return id
    },

    newGrant: async () => ({
      robot_id: (await world.robot(client)).id,
      to_organization_id: strangers['other client'].id,
      scopes: ['log'],
    }),

    /** Returns the id of a new grant of the client. */
    async granted(): Promise<string> {
      const { id } = await world.robot(client)
      const reply = await client.post(`/api/organizations/${client.id}/grants`, {
        robot_id: id,
        to_organization_id: strangers['other client'].id,
        scopes: ['log'],
      })
      expect(reply.status).toBe(201)
      return reply.body.id
    },

    /** Returns the id of a finished export of the client. */
    async exported(): Promise<string> {
      await removeExports()
      const made = await client.post('/api/session-exports', { format: 'csv' })
      await waitFor(async () => {
        expect((await client.get(`/api/session-exports/${made.body.id}`)).body.status).toBe('READY')
      })
      return made.body.id
    },

    /** Creates an invoice of the client for an unused month. */
    async invoiced(): Promise<string> {
      const id = randomUUID()
      const month = `${2100 + nextNumber()}-01`
      const sums = { currency: 'EUR', total_cents: 0, session_count: 0, minutes: 0 } as const
      await db
        .insertInto('invoices')
        .values({ id, client_id: client.id, month, status: 'DRAFT', ...sums })
        .execute()
      return id
    },

    /** Creates an abandoned test delivery of the webhook and returns its path. */
    async undelivered(): Promise<string> {
      const webhookId = await hooked()
      const { body } = await client.post(`/api/webhooks/${webhookId}/test`)
      await client.patch(`/api/webhooks/${webhookId}`, { enabled: false })
      await client.patch(`/api/webhooks/${webhookId}`, { enabled: true })
      return `/api/webhooks/${webhookId}/deliveries/${body.id}`
    },

    /** Sends a request to a route, e.g. `GET /api/health`. */
    async perform(
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
    },

    badCredentials: () => badCredentials(world, { client, operator, robot }),

    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await stripe[Symbol.asyncDispose]()
    },
  }
}

/** Returns a form with the smallest picture, a black dot. */
export function pictureForm(): FormData {
  const dot =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const form = new FormData()
  form.append('avatar', new Blob([Uint8Array.from(Buffer.from(dot, 'base64'))]), 'dot.png')
  return form
}

/** Returns invalid credentials as values of the Authorization header, by description. */
async function badCredentials(
  { platform }: Awaited<ReturnType<typeof createWorld>>,
  { client, operator, robot }: { client: TestUser; operator: TestUser; robot: { token: string } },
): Promise<Record<string, string | undefined>> {
  const [revoked, expired] = [await client.key(), await client.key()]
  await client.delete(`/api/auth/api-keys/${revoked.id}`)
  await platform.core.db
    .updateTable('api_keys')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .where('id', '=', expired.id)
    .execute()
  const key = generateApiKey()
  const [head, payload, signature] = client.token.split('.') as [string, string, string]
  const ofOperator = operator.token.split('.')[1]
  const late = await platform.identity.builtIn!.issueDevToken({
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
