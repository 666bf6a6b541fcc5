import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld({ env: { OPERATOR_GRACE_MS: '60000' } })
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

type Kind = 'sessions' | 'robots' | 'users'
interface Row {
  readonly id: string
  readonly created_at: string
  readonly [field: string]: unknown
}

/** Reads a list to its end. */
async function list(kind: Kind, query: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const parameters = new URLSearchParams({ ...query, ...(cursor && { cursor }) })
    const reply: Reply = await admin.get(`/api/admin/${kind}?${parameters}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    rows.push(...reply.body[kind])
    cursor = reply.headers.get('X-Next-Cursor')
  } while (cursor !== null)
  return rows
}
const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id)

const rename = async (user: TestUser, display_name: string) =>
  expect((await user.post('/api/auth/profile', { display_name })).status).toBe(200)

describe('every list', () => {
  test.each<Kind>(['sessions', 'robots', 'users'])(
    'of %s has each row once, newest first, in pages',
    async (kind) => {
      for (let n = 0; n < 3; n++) await openSessionFixture(world)
      // Heartbeats of the robots arrive between two requests.
      const listed = async (query?: Readonly<Record<string, string>>) =>
        (await list(kind, query)).map((row) => ({ ...row, last_heartbeat: 'any' }))
      const all = await listed()
      expect(all.length).toBeGreaterThanOrEqual(3)
      expect(await listed({ limit: '1' })).toEqual(all)
      expect(new Set(idsOf(all)).size).toBe(all.length)
      const times = all.map(({ created_at }) => Date.parse(created_at))
      expect(times).toEqual([...times].sort((a, b) => b - a))
    },
  )

  test.each(['sessions', 'robots', 'users'])(
    'of %s rejects invalid parameters and other callers',
    async (kind) => {
      const path = `/api/admin/${kind}`
      for (const query of ['limit=0', 'limit=101', 'cursor=x', 'status=x&role=x', 'offset=1'])
        expect((await admin.get(`${path}?${query}`)).status, query).toBe(400)
      for (const user of [await world.client(), await world.operator(), await world.newUser()])
        expect((await user.get(path)).status).toBe(403)
    },
  )
})

describe('sessions', () => {
  test('are found by robot, operator, owner and any id, and filtered by status', async () => {
    const [first, second] = [await openSessionFixture(world), await openSessionFixture(world)]
    await rename(first.operator, 'Ingrid Bergström')
    await rename(first.client, 'Warehouse & 100% Sons')
    await first.client.patch(`/api/client/robots/${first.robotId}`, { name: 'Zebra lifter' })
    for (const search of [
      'ingrid berg',
      'BERGSTR',
      '100%',
      'zebra lif',
      first.id,
      first.robotId,
      first.operator.id,
      first.client.id,
    ]) {
      expect(idsOf(await list('sessions', { search })), search).toEqual([first.id])
    }
    for (const search of ['lifter', '%%', 'ingrid zebra', randomUUID()])
      expect(idsOf(await list('sessions', { search })), search).not.toContain(first.id)
    expect((await list('sessions', { search: first.id }))[0]).toMatchObject({
      status: 'ACTIVE',
      robot_name: 'Zebra lifter',
      operator_name: 'Ingrid Bergström',
      client_name: 'Warehouse & 100% Sons',
      stopped: false,
    })
    await first.performAction(first.operator, 'end')
    expect(idsOf(await list('sessions', { status: 'ACTIVE' }))).toContain(second.id)
    expect(idsOf(await list('sessions', { status: 'ACTIVE', search: first.operator.id }))).toEqual([])
    expect(idsOf(await list('sessions', { status: 'COMPLETED', search: 'ingrid' }))).toEqual([first.id])
  })

  test('of one operator come in pages', async () => {
    const { operator, robotId, id, performAction } = await openSessionFixture(world)
    await performAction(operator, 'end')
    const scheduled: string[] = []
    for (let hour = 1; hour <= 3; hour++) {
      const scheduledFor = new Date(Date.now() + hour * 3 * 3_600_000).toISOString()
      scheduled.unshift((await operator.post('/api/sessions', { robotId, scheduledFor })).body.sessionId)
    }
    expect(idsOf(await list('sessions', { search: operator.id, limit: '2' }))).toEqual([...scheduled, id])
  })
})

describe('robots', () => {
  test('are found by name, hardware id, owner and id, and filtered by status', async () => {
    const { client, robotId, id } = await openSessionFixture(world)
    await rename(client, 'Quentin Owner')
    const idle = await world.robot(client, {
      name: 'Orchard picker',
      hardware_id: 'HW-Orchard-7',
      tags: ['orchard'],
    })
    for (const search of ['orchard p', 'hw-orchard-7', idle.id])
      expect(idsOf(await list('robots', { search })), search).toEqual([idle.id])
    expect(idsOf(await list('robots', { search: 'quentin' }))).toEqual([idle.id, robotId])
    expect(idsOf(await list('robots', { search: 'quentin', status: 'IN_SESSION' }))).toEqual([robotId])
    expect((await list('robots', { search: robotId }))[0]).toMatchObject({
      status: 'IN_SESSION',
      owner_name: 'Quentin Owner',
      session_id: id,
      on_hold: false,
    })
    expect(await list('robots', { tag: 'orchard' })).toMatchObject([
      { id: idle.id, tags: ['orchard'], battery: null },
    ])
    expect(await list('robots', { tag: 'orchard', status: 'IN_SESSION' })).toEqual([])
    expect((await client.delete(`/api/client/robots/${idle.id}`)).status).toBe(204)
    expect(await list('robots', { search: 'orchard' })).toEqual([])
  })
})

describe('robots with a low battery', () => {
  test('are found by the mark, which follows the limit of the owner', async () => {
    const client = await world.client()
    await rename(client, 'Battery Owner')
    const [low, full] = [await world.robot(client), await world.robot(client)]
    await using database = await connectTo(world.database.url)
    await database.query('update robot_presence set battery = 0.1, battery_low = true where robot_id = $1', [
      low.id,
    ])
    const found = (query: Readonly<Record<string, string>>) =>
      list('robots', { search: 'battery owner', ...query })
    expect(await found({ battery_low: 'true' })).toMatchObject([{ id: low.id, battery: 0.1 }])
    expect(idsOf(await found({ battery_low: 'false' }))).toEqual([full.id])
    expect(idsOf(await list('robots', { battery_low: 'true' }))).toContain(low.id)
    expect((await admin.get('/api/admin/robots?battery_low=maybe')).status).toBe(400)
  })
})

describe('users', () => {
  test('are found by parts of the name and of the address, by role and by suspension', async () => {
    const [operator, owner] = [await world.operator(), await world.client()]
    await rename(operator, 'Margaret Hamilton')
    expect(idsOf(await list('users', { search: 'hamil MARG' }))).toEqual([operator.id])
    expect(idsOf(await list('users', { search: operator.id }))).toEqual([operator.id])
    const [found] = await list('users', { search: operator.id })
    const address = found?.email as string
    expect(idsOf(await list('users', { search: address }))).toEqual([operator.id])
    expect(idsOf(await list('users', { role: 'operator' }))).toContain(operator.id)
    expect(idsOf(await list('users', { role: 'operator' }))).not.toContain(owner.id)
    expect(idsOf(await list('users', { role: 'client' }))).toContain(owner.id)
    expect(idsOf(await list('users', { role: 'admin' }))).toEqual([admin.id])
    await admin.post(`/api/admin/users/${operator.id}/suspend`, { reason: 'Unsafe' })
    expect(idsOf(await list('users', { suspended: 'true' }))).toEqual([operator.id])
    expect(idsOf(await list('users', { suspended: 'false' }))).not.toContain(operator.id)
    expect((await list('users', { search: operator.id }))[0]).toMatchObject({
      roles: ['operator'],
      suspended_at: expect.stringMatching(/Z$/),
    })
  })

  test('one user: roles, certifications, robots, open session, keys and suspension', async () => {
    const { client, operator, id, robotId } = await openSessionFixture(world)
    await client.key()
    const requested = await operator.post('/api/operator/certifications', { robot_type: 'testbot' })
    await admin.post(`/api/admin/certifications/${requested.body.id}/approve`)
    await admin.post(`/api/admin/certifications/${requested.body.id}/revoke`, { reason: 'Expired' })
    await admin.delete(`/api/admin/users/${client.id}/roles/client`)
    const read = async (user: TestUser) => (await admin.get(`/api/admin/users/${user.id}`)).body
    expect(await read(operator)).toMatchObject({
      roles: ['operator'],
      suspension: null,
      certifications: [{ robot_type: 'testbot', status: 'REVOKED', reason: 'Expired' }],
      open_session: { id, status: 'ACTIVE', robot_id: robotId },
      robots: [],
      robot_count: 0,
    })
    expect(await read(client)).toMatchObject({
      roles: [],
      removed_roles: ['client'],
      api_keys: 1,
      robots: [{ id: robotId, status: 'IN_SESSION' }],
      robot_count: 1,
      open_session: null,
    })
    await admin.post(`/api/admin/users/${client.id}/suspend`, { reason: 'Unpaid' })
    expect((await read(client)).suspension).toMatchObject({ reason: 'Unpaid' })
    expect((await admin.get(`/api/admin/users/${randomUUID()}`)).status).toBe(404)
  })
})

test('the audit log names its objects, and says which ones are deleted', async () => {
  const { client, operator, id } = await openSessionFixture(world)
  await rename(operator, 'Grace Murray')
  const requested = await operator.post('/api/operator/certifications', { robot_type: 'testbot' })
  await admin.post(`/api/admin/certifications/${requested.body.id}/approve`)
  await admin.patch(`/api/sessions/${id}`, { action: 'end' })
  const removed = await world.robot(client, { name: 'Short-lived' })
  await client.delete(`/api/client/robots/${removed.id}`)
  const key = await client.key()
  await client.delete(`/api/auth/api-keys/${key.id}`)
  const entry = async (subject: string) =>
    (await admin.get(`/api/admin/audit?subject_id=${subject}`)).body.entries[0]
  expect(await entry(requested.body.id)).toMatchObject({
    actor_name: admin.name,
    subject_name: 'Grace Murray, testbot',
    subject_deleted: false,
  })
  expect(await entry(operator.id)).toMatchObject({ subject_name: 'Grace Murray', subject_deleted: false })
  expect(await entry(id)).toMatchObject({ subject_name: expect.any(String), subject_deleted: false })
  expect(await entry(removed.id)).toMatchObject({ subject_name: 'Short-lived', subject_deleted: true })
  expect(await entry(key.id)).toMatchObject({ subject_name: 'test', subject_deleted: true })
})
