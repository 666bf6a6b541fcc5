import { once } from 'node:events'
import { Transform } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import { connectRedis } from '../../../src/core/redis.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Creates a Redis that answers everything but subscriptions while `holdsSubscriptions` is set. */
async function hesitantRedis() {
  const state = { holdsSubscriptions: false, held: 0 }
  const proxy = await createTcpProxy(serviceUrl('redisUrl'), {
    createRequestFilter: () =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const holds = state.holdsSubscriptions && /subscribe/i.test(String(chunk))
          if (holds) state.held++
          done(null, holds ? undefined : chunk)
        },
      }),
  })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return { state, breakOff: () => void proxy.reset(), url: proxy.url }
}

test.each([
  ['subscribe', 'channel'],
  ['psubscribe', 'channel*'],
  ['ssubscribe', 'shard'],
] as const)(
  'a connection that is closed during a resubscription (%s) leaves no unhandled rejection',
  async (method, channel) => {
    const rejected = vi.fn()
    process.on('unhandledRejection', rejected)
    onTestFinished(() => void process.off('unhandledRejection', rejected))
    const { url, state, breakOff } = await hesitantRedis()
    const log = createLog({ level: 'silent', pretty: false })
    const redis = connectRedis(url, { name: 'test', log, queueCommands: true })
    onTestFinished(() => redis.disconnect())
    await redis[method](channel)

    state.holdsSubscriptions = true
    breakOff()
    await waitFor(() => expect(state.held).toBeGreaterThan(0))
    const ended = once(redis, 'end')
    redis.disconnect()
    await ended
    await new Promise(setImmediate) // Node reports unhandled rejections once all promises have settled
    expect(rejected).not.toHaveBeenCalled()
  },
)

test('a caller that waits for a subscription learns that it failed', async () => {
  const { url, state } = await hesitantRedis()
  state.holdsSubscriptions = true
  const redis = connectRedis(url, {
    name: 'test',
    log: createLog({ level: 'silent', pretty: false }),
    queueCommands: true,
  })
  const failed = expect(redis.subscribe('channel')).rejects.toThrow('Connection is closed')
  await waitFor(() => expect(state.held).toBeGreaterThan(0))
  redis.disconnect()
  await failed
})
