import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** The check waits two seconds for the database; the rest is for a busy machine. */
const ANSWER_LIMIT_MS = 4_000

let database: TestDatabase
let proxy: TcpProxy
let world: World
beforeEach(async () => {
  database = await createTestDatabase()
  proxy = await createTcpProxy(database.url)
  world = await createWorld({ env: { DATABASE_URL: proxy.url } })
})
afterEach(async () => {
  proxy.restore()
  world.errors.length = 0 // every 503 is logged
  await world[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await database.drop()
})

async function health(path = '/api/health') {
  const startedAt = performance.now()
  const response = await fetch(world.baseUrl + path)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, ms: performance.now() - startedAt }
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
  })

  test('an unresponsive database is an error in bounded time for every caller', async () => {
    proxy.silence()
    const replies = await Promise.all(Array.from({ length: 30 }, () => health()))
    for (const reply of replies) {
      expect(reply.status).toBe(503)
      expect(JSON.parse(reply.text)).toEqual(failed)
      expect(reply.ms).toBeLessThan(ANSWER_LIMIT_MS)
    }
    expect((await health()).ms, 'while checks are still waiting').toBeLessThan(ANSWER_LIMIT_MS)
  })

  test.each(['cut', 'silence'] as const)(
    'is ok again after the database is back from a %s',
    async (fault) => {
      proxy[fault]()
      expect((await health()).status).toBe(503)
      proxy.restore()
      await vi.waitFor(async () => expect((await health()).status).toBe(200), { timeout: 15_000 })
      expect(JSON.parse((await health()).text)).toEqual({ status: 'ok', db: 'ok', timestamp })
    },
  )

  test('readiness follows the database, liveness does not', async () => {
    expect((await health('/readyz')).status).toBe(200)
    proxy.cut()
    await vi.waitFor(async () => expect((await health('/readyz')).status).toBe(503), { timeout: 10_000 })
    expect((await health('/livez')).status).toBe(200)
    proxy.restore()
    await vi.waitFor(async () => expect((await health('/readyz')).status).toBe(200), { timeout: 10_000 })
  })
})
