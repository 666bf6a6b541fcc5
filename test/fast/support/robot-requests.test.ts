import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const LIST = '/api/admin/robot-requests'
const valid = { email: 'ada@example.com', robot_type: 'Difference Engine' }

let world: World
let admin: TestUser
/** Advances with every reading, so that "newest first" is unambiguous. */
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs++) })
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

async function send(body: unknown, baseUrl = world.baseUrl) {
  const response = await fetch(`${baseUrl}/api/robot-request`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}
const listed = async (query = '') =>
  (await admin.get(LIST + query)).body.robot_requests as Record<string, unknown>[]

test('POST /api/robot-request: answers 201 without a credential, and an admin sees the request', async () => {
  const full = { ...valid, name: 'Ada', details: 'It computes.\nMostly.' }
  const reply = await send(full)
  expect(reply).toEqual({
    status: 201,
    body: { success: true, message: expect.any(String), id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
  expect((await listed())[0]).toEqual({
    ...full,
    id: reply.body.id,
    created_at: expect.stringMatching(/Z$/),
  })
})

test('name and details are optional', async () => {
  const reply = await send(valid)
  expect(reply.status).toBe(201)
  expect((await listed())[0]).toMatchObject({ id: reply.body.id, name: null, details: null })
})

test.each([
  ['email', { email: undefined }],
  ['email', { email: 'ada' }],
  ['email', { email: `${'a'.repeat(245)}@example.com` }],
  ['robot_type', { robot_type: undefined }],
  ['robot_type', { robot_type: ' ' }],
  ['robot_type', { robot_type: 'a'.repeat(101) }],
  ['robot_type', { robot_type: 'a\r\nb' }],
  ['name', { name: '' }],
  ['name', { name: 'a\0' }],
  ['name', { name: 'a'.repeat(101) }],
  ['details', { details: 'a'.repeat(5_001) }],
  ['details', { details: 'a\ud800' }],
  ['details', { details: null }],
  ['message', { message: 'x' }],
])('answers 400 naming %s for %j', async (field, change) => {
  const before = await listed('?limit=1')
  const reply = await send({ ...valid, ...change })
  expect(reply).toEqual({ status: 400, body: { error: expect.stringContaining(field) } })
  expect(await listed('?limit=1')).toEqual(before)
})

test('GET /api/admin/robot-requests: lists each request once, newest first, in pages', async () => {
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift((await send({ ...valid, robot_type: `page ${n}` })).body.id)
  const first = await listed('?limit=3')
  const second = await listed(`?limit=2&before=${first[2]?.id}`)
  expect([...first, ...second].map((item) => item.id)).toEqual(ids)
  for (const query of ['limit=0', 'limit=201', 'before=x', 'delivered=true']) {
    expect(await admin.get(`${LIST}?${query}`), query).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(query.split('=')[0] as string) },
    })
  }
})

test('GET /api/admin/robot-requests: is for admins only', async () => {
  for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
    expect((await user.get(LIST)).status).toBe(403)
  }
  expect((await fetch(world.baseUrl + LIST)).status).toBe(401)
})

test('POST /api/robot-request: answers 503 and stores nothing while the database is unavailable', async () => {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  try {
    await using proxiedWorld = await createWorld({ env: { DATABASE_URL: proxy.url } })
    proxy.cut()
    expect(await send(valid, proxiedWorld.baseUrl)).toMatchObject({
      status: 503,
      body: { error: expect.any(String) },
    })
    proxy.restore()
    await waitFor(async () => expect((await send(valid, proxiedWorld.baseUrl)).status).toBe(201))
    const kept = await proxiedWorld.platform.core.db.selectFrom('robot_requests').select('id').execute()
    expect(kept).toHaveLength(1)
    proxiedWorld.errors.length = 0 // the logged 503 is expected
  } finally {
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  }
})
