import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'

describe.concurrent.each(['cut', 'silence'] as const)('with the database away (%s)', (way) => {
  test('health and readiness report it, calls answer 503, and the platform recovers with the database', async () => {
    const database = await createTestDatabase()
    try {
      await using proxy = await createTcpProxy(database.url)
      await using outer = await createWorld({ env: { DATABASE_URL: proxy.url } })
      const client = await outer.client()
      const status = async (path: string) => (await fetch(outer.baseUrl + path)).status
      for (const path of ['/api/health', '/readyz']) expect(await status(path)).toBe(200)
      // Several idle connections, so that every call below gets one that seems to work.
      await Promise.all(Array.from({ length: 10 }, () => client.get(ROBOTS)))
      proxy[way]()

      const health = await fetch(`${outer.baseUrl}/api/health`)
      expect(health.status).toBe(503)
      expect(health.headers.get('Wheelhouse-Error')).toBe('database_unavailable')
      expect(await health.json()).toEqual({ status: 'error', db: 'error', timestamp: expect.any(String) })
      const replies = await Promise.all([
        client.get(ROBOTS),
        client.post(ROBOTS, { name: 'a', robot_type: 'b', hardware_id: 'c' }),
        client.get('/api/sessions'),
        client.patch(`/api/sessions/${randomUUID()}`, { action: 'end' }),
      ])
      for (const reply of replies) {
        expect(reply.status).toBe(503)
        expect(reply.body).toEqual({ error: expect.stringContaining('database') })
        expect(reply.headers.get('Retry-After')).toMatch(/^\d+$/)
        expect(reply.headers.get('Wheelhouse-Error')).toBe('database_unavailable')
      }
      expect(await status('/livez')).toBe(200)
      await waitFor(async () => expect(await status('/readyz')).toBe(503))

      proxy.restore()
      await waitFor(async () => expect(await status('/readyz')).toBe(200))
      await waitFor(async () => expect((await client.get(ROBOTS)).status).toBe(200))
      expect(await (await fetch(`${outer.baseUrl}/api/health`)).json()).toEqual({
        status: 'ok',
        db: 'ok',
        timestamp: expect.any(String),
      })
      const robot = await outer.robot(client)
      expect((await client.get(ROBOTS)).body).toMatchObject([{ id: robot.id }])
      // The log contains the refusals above and nothing else.
      const lines = outer.errors.splice(0).map((line) => JSON.parse(line))
      expect(lines.map((line) => line.msg)).toEqual(lines.map(() => 'request failed'))
      expect(lines.filter((line) => line.status !== 503)).toEqual([])
    } finally {
      await database.drop()
    }
  })
})
