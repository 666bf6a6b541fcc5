import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createConnection, createServer, type Socket } from 'node:net'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import { connectRedis } from '../../../src/core/redis.ts'

/** Starts a Redis stub that answers everything but subscriptions while `holdsSubscriptions` is set. */
async function hesitantRedis() {
  const { hostname, port } = new URL(inject('redisUrl'))
  const sockets = new Set<Socket>()
  const state = { holdsSubscriptions: false, held: 0 }
  const server = createServer((near) => {
    const far = createConnection(Number(port), hostname)
    sockets.add(near)
    near.on('data', (chunk) => {
      if (state.holdsSubscriptions && /subscribe/i.test(String(chunk))) state.held++
      else far.write(chunk)
    })
    far.pipe(near)
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const breakOff = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { state, breakOff, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` }
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
    await vi.waitFor(() => expect(state.held).toBeGreaterThan(0), 10_000)
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
  await vi.waitFor(() => expect(state.held).toBeGreaterThan(0), 10_000)
  redis.disconnect()
  await failed
})
