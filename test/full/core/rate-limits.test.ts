import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { ask } from '../../support/network/http-request.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createWorld } from '../../support/world/world.ts'

const PER_MINUTE = 20

test('a process counts in memory while Redis is unavailable, and then again with the others', async () => {
  await using redis = await createTcpProxy(serviceUrl('redisUrl'))
  await using world = await createWorld({
    bus: 'redis',
    env: { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE), REDIS_URL: redis.url },
    // Longer than Redis takes on a busy machine. The first requests without an answer wait as long.
    redisCommandMs: 10_000,
  })
  const owner = await world.client()
  const { key: token } = await owner.key()
  const read = () => ask(`${world.baseUrl}/api/client/robots`, { token })
  await expect.poll(async () => (await read()).status).toBe(429)

  for (const fault of ['silence', 'cut'] as const) {
    redis[fault]()
    const counted = await Promise.all(Array.from({ length: PER_MINUTE / 2 }, read))
    for (const { status, headers } of counted) {
      expect(status).toBe(200)
      expect(headers.get('RateLimit')).toMatch(/^"default";/)
    }
    redis.restore()
  }
  // The count in memory would refuse `token` as well; a new key counts in Redis.
  const fresh = await owner.key()
  const shared = new Redis(serviceUrl('redisUrl'))
  try {
    await expect
      .poll(async () => {
        await ask(`${world.baseUrl}/api/client/robots`, { token: fresh.key })
        return (await shared.keys('wheelhouse:rate:default:*')).some((name) => name.includes(fresh.id))
      })
      .toBe(true)
  } finally {
    shared.disconnect()
  }
})
