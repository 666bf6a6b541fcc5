import { randomUUID } from 'node:crypto'
import type { ApiKeyScope, OrganizationRole } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let owner: TestUser
let stranger: TestUser
/** The personal organization of the owner. */
let accounts: string
beforeAll(async () => {
  world = await createWorld()
  ;[owner, stranger] = [await world.client(), await world.client()]
  accounts = `/api/organizations/${owner.id}/service-accounts`
})
afterAll(() => world[Symbol.asyncDispose]())

const DAY_MS = 86_400_000
const PROFILE = '/api/auth/profile'

async function made(input: { name?: string; role?: OrganizationRole; group_ids?: string[] } = {}) {
  const reply = await owner.post(accounts, { name: 'Scheduler', ...input })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return { ...reply.body, path: `${accounts}/${reply.body.id}`, keys: `${accounts}/${reply.body.id}/keys` }
}
async function keyOf(account: { keys: string }, scopes: ApiKeyScope[] = ['read', 'admin']) {
  const reply = await owner.post(account.keys, { scopes, expiresInDays: 30 })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body as { id: string; key: string; expires_at: string }
}
const as = (key: string, method: string, path: string, body?: unknown) =>
  owner.request(method, path, body, key)
const statusOf = async (key: string) => (await as(key, 'GET', PROFILE)).status
const codeOf = (reply: { status: number; headers: Headers }) => [
  reply.status,
  reply.headers.get('Wheelhouse-Error'),
]
/** Creates a team that the owner owns, as a request with the header can act for. */
async function team(): Promise<string> {
  const id = randomUUID()
  await world.platform.core.db.insertInto('organizations').values({ id, name: 'Team' }).execute()
  await world.platform.core.db
    .insertInto('organization_members')
    .values({ organization_id: id, user_id: owner.id, role: 'owner' })
    .execute()
  return id
}
const auditOf = async (subjectId: string) =>
  (
    await world.platform.core.db
      .selectFrom('audit_log')
      .select(['action', 'actor_id'])
      .where('subject_id', '=', subjectId)
      .orderBy('id')
      .execute()
  ).map(({ action, actor_id }) => [action, actor_id])

test('a program has a name, a role and keys, and acts for its organization with them', async () => {
  const robot = await world.robot(owner)
  const account = await made({ role: 'viewer' })
  expect(account).toMatchObject({ name: 'Scheduler', role: 'viewer', group_ids: null, last_used_at: null })
  const reply = await owner.post(account.keys, { scopes: ['sessions', 'read', 'read'], expiresInDays: 30 })
  expect(reply.headers.get('Cache-Control')).toBe('no-store')
  const { key, ...view } = reply.body
  expect(view).toMatchObject({ name: 'Scheduler', scopes: ['read', 'sessions'], last_used_at: null })
  expect(Date.parse(view.expires_at) - Date.now()).toBeGreaterThan(29 * DAY_MS)

  expect((await as(key, 'GET', PROFILE)).body).toMatchObject({
    id: account.id,
    display_name: 'Scheduler',
    email: null,
  })
  const robots = (await as(key, 'GET', '/api/client/robots')).body
  expect(robots.map(({ id }: { id: string }) => id)).toContain(robot.id)
  expect((await as(key, 'PATCH', `/api/client/robots/${robot.id}`, { notes: 'x' })).status).toBe(403)

  await world.platform.identity.apiKeys.flush()
  const [listed] = (await owner.get(account.keys)).body.api_keys
  expect(listed).toMatchObject({ id: view.id, last_used_address: '127.0.0.1', unused_days: 0 })
  expect(listed).not.toHaveProperty('key')
  const [entry] = (await owner.get(accounts)).body.service_accounts
  expect(entry).toMatchObject({ id: account.id, keys: 1, last_used_at: listed.last_used_at })
  expect(await auditOf(account.id)).toEqual([['service_account.created', owner.id]])
  expect(await auditOf(view.id)).toEqual([['api_key.created', owner.id]])
})

test.each([
  [{}, 'name'],
  [{ name: 'x', role: 'owner' }, 'role'],
  [{ name: 'x', group_ids: [] }, 'group_ids'],
  [{ name: 'x', group_ids: ['7'] }, 'group_ids'],
])('rejects the account %j and names %s', async (body, field) => {
  const reply = await owner.post(accounts, body)
  expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(field)])
})

test.each([
  [{ expiresInDays: 1 }, 'scopes'],
  [{ scopes: [], expiresInDays: 1 }, 'scopes'],
  [{ scopes: ['all'], expiresInDays: 1 }, 'scopes'],
  [{ scopes: ['read'] }, 'expiresInDays'],
  [{ scopes: ['read'], expiresInDays: 366 }, 'expiresInDays'],
  [{ scopes: ['read'], expiresInDays: 0 }, 'expiresInDays'],
])('rejects the key %j and names %s', async (body, field) => {
  const reply = await owner.post((await made()).keys, body)
  expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining(field)])
})

test('foreign and unknown organizations, accounts, keys and groups are 404 alike', async () => {
  const account = await made()
  const { id } = await keyOf(account)
  const other = (await stranger.post(`/api/organizations/${stranger.id}/service-accounts`, { name: 'x' }))
    .body
  const requests: [string, string, unknown?][] = [
    ['GET', ''],
    ['POST', '', { name: 'x' }],
    ['PATCH', `/${account.id}`, { name: 'x' }],
    ['GET', `/${account.id}/keys`],
    ['POST', `/${account.id}/keys`, { scopes: ['read'], expiresInDays: 1 }],
    ['POST', `/${account.id}/keys/${id}/rotate`, { overlapHours: 1 }],
    ['DELETE', `/${account.id}/keys/${id}`],
    ['DELETE', `/${account.id}`],
  ]
  for (const [method, path, body] of requests) {
    const foreign = await stranger.request(method, accounts + path, body)
    const unknown = await stranger.request(
      method,
      `/api/organizations/${randomUUID()}/service-accounts${path}`,
      body,
    )
    expect([foreign.status, foreign.body], `${method} ${path}`).toEqual([404, unknown.body])
  }
  for (const accountId of [other.id, owner.id, stranger.id, randomUUID()]) {
    const path = `${accounts}/${accountId}`
    const replies = [
      await owner.patch(path, { name: 'x' }),
      await owner.get(`${path}/keys`),
      await owner.post(`${path}/keys`, { scopes: ['read'], expiresInDays: 1 }),
      await owner.delete(path),
    ]
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  }
  expect((await owner.delete(`${account.keys}/${randomUUID()}`)).status).toBe(404)
  expect((await owner.delete(`${(await made()).keys}/${id}`)).status).toBe(404)
  expect((await owner.post(accounts, { name: 'x', group_ids: [randomUUID()] })).status).toBe(404)
  // The path names the team, also while the request acts for the personal organization.
  expect((await owner.get(`/api/organizations/${await team()}/service-accounts`)).status).toBe(200)
})

test('a key creates and rotates only keys with scopes that it has itself', async () => {
  const account = await made({ role: 'admin' })
  const [limited, driver] = [await keyOf(account, ['read', 'admin']), await keyOf(account, ['drive'])]

  const wider = await as(limited.key, 'POST', account.keys, { scopes: ['admin', 'drive'], expiresInDays: 1 })
  expect(codeOf(wider)).toEqual([403, 'scope_required'])
  const rotated = await as(limited.key, 'POST', `${account.keys}/${driver.id}/rotate`, { overlapHours: 0 })
  expect(codeOf(rotated)).toEqual([403, 'scope_required'])
  expect(await statusOf(limited.key)).toBe(200)
  expect((await as(limited.key, 'POST', account.keys, { scopes: ['read'], expiresInDays: 1 })).status).toBe(
    201,
  )

  const reader = await keyOf(account, ['read', 'robots', 'sessions', 'drive', 'billing'])
  expect(codeOf(await as(reader.key, 'GET', accounts))).toEqual([403, 'scope_required'])
  const operator = await keyOf(await made(), ['read', 'admin'])
  expect(codeOf(await as(operator.key, 'GET', accounts))).toEqual([403, 'permission_required'])
})

test('rotation: the new key has the scopes, and the old one works until the overlap ends', async () => {
  const account = await made()
  const old = await keyOf(account, ['read'])
  const reply = await owner.post(`${account.keys}/${old.id}/rotate`, { overlapHours: 24 })
  expect(reply.status).toBe(201)
  expect(reply.body).toMatchObject({ scopes: ['read'], replaces_id: old.id })
  expect(Date.parse(reply.body.expires_at) - Date.now()).toBeGreaterThan(29 * DAY_MS)
  expect(await Promise.all([old.key, reply.body.key].map(statusOf))).toEqual([200, 200])
  const entries = (await owner.get(account.keys)).body.api_keys
  const listed = entries.find(({ id }: { id: string }) => id === old.id)
  expect(Date.parse(listed.expires_at) - Date.now()).toBeLessThanOrEqual(DAY_MS)
  expect(await auditOf(reply.body.id)).toEqual([['api_key.rotated', owner.id]])

  const again = await owner.post(`${account.keys}/${old.id}/rotate`, { overlapHours: 1 })
  expect(codeOf(again)).toEqual([409, 'api_key_not_rotatable'])
  expect((await owner.post(`${account.keys}/${reply.body.id}/rotate`, { overlapHours: 169 })).status).toBe(
    400,
  )
})

test('two rotations at once make one successor', async () => {
  const account = await made()
  const { id } = await keyOf(account)
  const rotate = () => owner.post(`${account.keys}/${id}/rotate`, { overlapHours: 1 })
  const statuses = (await Promise.all([rotate(), rotate(), rotate()])).map(({ status }) => status)
  expect(statuses.sort()).toEqual([201, 409, 409])
})

test('the sockets of a key end when its overlap ends, although they were opened before the rotation', async () => {
  const account = await made()
  const [atOnce, later] = [await keyOf(account), await keyOf(account)]
  const sockets = await Promise.all([atOnce, later].map(({ key }) => owner.hub({ token: key })))
  const open = () => sockets.map(({ socket }) => socket.connected)
  await owner.post(`${account.keys}/${atOnce.id}/rotate`, { overlapHours: 0 })
  await waitFor(() => expect(open()).toEqual([false, true]))
  expect(await statusOf(atOnce.key)).toBe(401)

  await owner.post(`${account.keys}/${later.id}/rotate`, { overlapHours: 1 })
  expect(open()).toEqual([false, true])
  await sql`update api_keys set expires_at = now() where id = ${later.id}`.execute(world.platform.core.db)
  await waitFor(() => expect(open()).toEqual([false, false]))
})

test('a change reaches open sockets, and a removed account ends at once', async () => {
  const account = await made({ role: 'admin' })
  const { key } = await keyOf(account)
  const socket = await owner.hub({ token: key })
  const disconnects: string[] = []
  socket.socket.on('disconnect', (why) => disconnects.push(why))
  expect((await as(key, 'GET', accounts)).status).toBe(200)

  const changed = await owner.patch(account.path, { role: 'operator', name: 'Planner' })
  expect(changed.body).toMatchObject({ role: 'operator', name: 'Planner' })
  expect((await as(key, 'GET', accounts)).status).toBe(403)
  await waitFor(() => expect(disconnects).toHaveLength(1))
  await waitFor(() => expect(socket.socket.connected).toBe(true))

  expect((await owner.delete(account.path)).status).toBe(204)
  expect(await statusOf(key)).toBe(401)
  await waitFor(() => expect(socket.socket.connected).toBe(false))
  expect((await owner.delete(account.path)).status).toBe(404)
  const left = (await owner.get(accounts)).body.service_accounts.map(({ id }: { id: string }) => id)
  expect(left).not.toContain(account.id)
  const actions = (await auditOf(account.id)).map(([action]) => action)
  expect(actions).toEqual(['service_account.created', 'service_account.changed', 'service_account.removed'])
})

test('a revoked key ends at once', async () => {
  const account = await made()
  const { id, key } = await keyOf(account)
  expect((await owner.delete(`${account.keys}/${id}`)).status).toBe(204)
  expect(await statusOf(key)).toBe(401)
  expect((await owner.get(account.keys)).body.api_keys[0]).not.toHaveProperty('unused_days')
})

test('a program of some groups sees their robots only', async () => {
  const { db } = world.platform.core
  const group = randomUUID()
  await db
    .insertInto('organization_groups')
    .values({ id: group, organization_id: owner.id, name: 'Hall' })
    .execute()
  const [inside] = [await world.robot(owner), await world.robot(owner)]
  await db.updateTable('robots').set({ group_id: group }).where('id', '=', inside.id).execute()
  const account = await made({ group_ids: [group] })
  const { key } = await keyOf(account, ['read'])
  const seen = async () =>
    (await as(key, 'GET', '/api/client/robots')).body.map(({ id }: { id: string }) => id)
  expect(await seen()).toEqual([inside.id])
  await owner.patch(account.path, { group_ids: null })
  expect((await seen()).length).toBeGreaterThan(1)
})

test('at most 100 accounts and 20 keys each, also with concurrent requests', async () => {
  const rich = await world.client()
  const path = `/api/organizations/${rich.id}/service-accounts`
  await sql`
    with made as (
      insert into users (id, issuer, subject, display_name, service_of_id)
      select gen_random_uuid(), 'urn:test', gen_random_uuid()::text, 'x', ${rich.id} from generate_series(1, 98) returning id)
    insert into organization_members (organization_id, user_id, role)
    select ${rich.id}, id, 'viewer' from made`.execute(world.platform.core.db)
  const created = await Promise.all([1, 2, 3, 4].map(() => rich.post(path, { name: 'x' })))
  expect(created.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409])
  const account = created.find(({ status }) => status === 201)?.body.id
  const keys = `${path}/${account}/keys`
  const replies = await Promise.all(
    Array.from({ length: 22 }, () => rich.post(keys, { scopes: ['read'], expiresInDays: 1 })),
  )
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(20)
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(2)
})

test('the database refuses a program as owner, and as a member of another organization', async () => {
  const account = await made()
  const { db } = world.platform.core
  const role = { role: 'owner' } as const
  const promoted = db
    .updateTable('organization_members')
    .set(role)
    .where('user_id', '=', account.id)
    .execute()
  await expect(promoted).rejects.toThrow('never the owner')
  const joined = db
    .insertInto('organization_members')
    .values({ organization_id: stranger.id, user_id: account.id, role: 'viewer' })
    .execute()
  await expect(joined).rejects.toThrow('its own organization')
})

test('what only people do is refused to programs, with any scope', async () => {
  const account = await made({ role: 'admin' })
  const { key } = await keyOf(account, ['read', 'sessions', 'robots', 'drive', 'billing', 'admin'])
  const push = { endpoint: 'https://push.example/1', keys: { p256dh: 'x', auth: 'y' } }
  const refused: [string, string, unknown?][] = [
    ['POST', PROFILE, { role: 'client' }],
    ['POST', PROFILE, { display_name: 'Boss' }],
    ['PATCH', '/api/notifications/settings', {}],
    ['POST', '/api/notifications/push/subscriptions', push],
    ['POST', '/api/operator/profile', {}],
    ['POST', '/api/operator/schedule', { timezone: 'UTC', slots: [] }],
    ['POST', '/api/operator/certifications', { robot_type: 'testbot' }],
    ['POST', '/api/auth/sync'],
    ['POST', '/api/auth/api-keys', { name: 'x' }],
  ]
  for (const [method, path, body] of refused) {
    const reply = await as(key, method, path, body)
    expect(reply.status, `${method} ${path}`).toBe(403)
  }
  expect((await as(key, 'DELETE', '/api/auth/roles/client')).status).toBe(404)
  const admin = await world.admin()
  const listed = (await admin.get(`/api/admin/users?search=${account.id}`)).body.users
  expect(listed).toMatchObject([{ id: account.id, roles: [], service_of: owner.id }])
  expect((await admin.get(`/api/admin/users/${owner.id}`)).body).not.toHaveProperty('service_of')
})

test('keys that are unused for 90 days are reported once, to the managers or to the user', async () => {
  const { core, identity } = world.platform
  const account = await made({ name: 'Sleeper' })
  const [unused, fresh] = [await keyOf(account), await keyOf(account)]
  const personal = await stranger.key()
  const long = new Date(Date.now() - 91 * DAY_MS)
  const age = (...ids: string[]) =>
    core.db.updateTable('api_keys').set({ created_at: long }).where('id', 'in', ids).execute()
  await age(unused.id, personal.id)
  const reports = async (user: TestUser) =>
    (await user.get('/api/notifications')).body.notifications
      .filter(({ type }: { type: string }) => type === 'api_key.unused')
      .map(({ data }: { data: unknown }) => data)

  await identity.apiKeys.reportUnused()
  await identity.apiKeys.reportUnused()
  expect(await reports(owner)).toEqual([
    {
      api_key_id: unused.id,
      name: 'Sleeper',
      unused_days: 91,
      service_account_id: account.id,
      service_account: 'Sleeper',
    },
  ])
  expect(await reports(stranger)).toEqual([{ api_key_id: personal.id, name: 'test', unused_days: 91 }])
  const days = async (user: TestUser, path: string) =>
    Object.fromEntries(
      (await user.get(path)).body.api_keys.map((key: { id: string; unused_days?: number }) => [
        key.id,
        key.unused_days,
      ]),
    )
  expect(await days(owner, account.keys)).toEqual({ [unused.id]: 91, [fresh.id]: 0 })
  expect(await days(stranger, '/api/auth/api-keys')).toEqual({ [personal.id]: 91 })

  // A use begins a new period.
  expect(await statusOf(personal.key)).toBe(200)
  await identity.apiKeys.flush()
  expect(await days(stranger, '/api/auth/api-keys')).toEqual({ [personal.id]: undefined })
})

test('personal keys may have scopes; without them their view is that of before', async () => {
  const plain = (await stranger.post('/api/auth/api-keys', { name: 'plain' })).body
  expect(Object.keys(plain).sort()).toEqual([
    'created_at',
    'expires_at',
    'id',
    'key',
    'last4',
    'last_used_at',
    'name',
    'prefix',
    'revoked_at',
  ])
  const reader = (await stranger.post('/api/auth/api-keys', { name: 'reader', scopes: ['read'] })).body
  expect(reader.scopes).toEqual(['read'])
  expect((await as(reader.key, 'GET', '/api/client/robots')).status).toBe(200)
  expect(codeOf(await as(reader.key, 'POST', PROFILE, { display_name: 'x' }))).toEqual([
    403,
    'scope_required',
  ])
})
