import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let database: TestDatabase
let proxy: TcpProxy
let world: World
let owner: TestUser
beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await createTcpProxy(database.url)
  world = await createWorld({ env: { DATABASE_URL: proxy.url } })
  owner = await world.client()
})
afterAll(async () => {
  proxy.restore()
  world.errors.length = 0 // every 503 is logged
  await world[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

async function health() {
  const response = await fetch(`${world.baseUrl}/api/health`)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const failed = { status: 'error', db: 'error', timestamp }

describe('GET /api/health', () => {
  test('GET /api/health: 200 with status ok and db ok while the database answers', async () => {
    const reply = await health()
    expect(reply.status).toBe(200)
    expect(reply.headers.get('Content-Type')).toContain('application/json')
    expect(reply.headers.get('Cache-Control')).toBe('no-store')
    const body = JSON.parse(reply.text)
    expect(body).toEqual({ status: 'ok', db: 'ok', timestamp })
    expect(Math.abs(Date.now() - Date.parse(body.timestamp))).toBeLessThan(60_000)
  })

  test('GET /api/health: 503 with the same shape, and no error object, while the database is stopped', async () => {
    proxy.cut()
    const reply = await health()
    expect(reply.status).toBe(503)
    expect(JSON.parse(reply.text)).toEqual(failed)
    expect(reply.headers.get('Cache-Control')).toBe('no-store')
    const refused = await owner.get('/api/client/robots')
    expect(refused).toMatchObject({ status: 503, body: { error: expect.stringContaining('database') } })
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/)
    expect((await fetch(`${world.baseUrl}/livez`)).status).toBe(200)
    proxy.restore()
    await waitFor(async () => expect((await health()).status).toBe(200))
    await waitFor(async () => expect((await owner.get('/api/client/robots')).status).toBe(200))
  })

  // The answers arrive while the database is silent. test/full/core/database-away.test.ts covers the recovery.
  test('an unresponsive database is an error for every caller', async () => {
    proxy.silence()
    const replies = await Promise.all(Array.from({ length: 30 }, () => health()))
    for (const reply of replies) {
      expect(reply.status).toBe(503)
      expect(JSON.parse(reply.text)).toEqual(failed)
    }
    expect((await health()).status, 'while checks are still waiting').toBe(503)
  })
})
