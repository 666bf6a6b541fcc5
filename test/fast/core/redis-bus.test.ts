import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Bus, RobotStop } from '../../../src/core/events/bus.ts'
import { createRedisBus } from '../../../src/core/events/redis-bus.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { startRedis, type TestRedis } from '../../support/processes/redis.ts'
import { waitFor } from '../../support/world/wait.ts'

/** The platforms of other test files publish on the same channels of the shared Redis. */
let redisServer: TestRedis
beforeAll(async () => {
  redisServer = await startRedis()
})
afterAll(() => redisServer?.stop())

function join(url = redisServer.url): { bus: Bus; publisher: Redis; subscriber: Redis } {
  const [publisher, subscriber] = [new Redis(url), new Redis(url)]
  onTestFinished(() => {
    publisher.disconnect()
    subscriber.disconnect()
  })
  const report = (cause: unknown) => expect.unreachable(String(cause))
  return {
    bus: createRedisBus({ publisher, subscriber, processId: randomUUID(), report }),
    publisher,
    subscriber,
  }
}

/** Starts a second process that listens to everything; resolves once its subscriptions are active. */
async function listener() {
  const { bus, publisher } = join()
  const received = {
    robotIds: [] as string[],
    messages: 0,
    wakes: 0,
    revoked: [] as string[],
    stops: [] as RobotStop[],
  }
  bus.subscribe('robots.changed', ({ robotIds }) => {
    received.messages++
    received.robotIds.push(...robotIds)
  })
  bus.subscribe('outbox.wake', () => {
    received.wakes++
  })
  bus.subscribe('robot.stop', (stop) => received.stops.push(stop))
  bus.subscribe('credential.revoked', ({ apiKeyId }) => received.revoked.push(apiKeyId))
  await waitFor(async () => {
    const channels = await publisher.pubsub('NUMSUB', 'wheelhouse:bus:credential.revoked')
    expect(Number(channels[1])).toBeGreaterThan(0)
  })
  return received
}

test('hints published while another is in flight arrive together, and none is lost', async () => {
  const received = await listener()
  const { bus, publisher } = join()
  await publisher.ping()
  const ids = Array.from({ length: 2_000 }, () => randomUUID())
  for (const id of ids) {
    bus.publish('robots.changed', { robotIds: [id] })
    bus.publish('outbox.wake', {})
  }
  await waitFor(() => expect(new Set(received.robotIds)).toEqual(new Set(ids)))
  expect(received.robotIds).toHaveLength(ids.length)
  expect(received.messages).toBeLessThan(20)
  const before = received.wakes
  bus.publish('outbox.wake', {}) // after a burst, the next hint is published again
  await waitFor(() => expect(received.wakes).toBeGreaterThan(before))
})

test('revoked credentials are published one by one', async () => {
  const received = await listener()
  const { bus, publisher } = join()
  await publisher.ping()
  for (const apiKeyId of ['a', 'b', 'c']) bus.publish('credential.revoked', { apiKeyId })
  await waitFor(() => expect(received.revoked).toEqual(['a', 'b', 'c']))
})

const stopOf = (sessionId: string): RobotStop => ({
  sessionId,
  reason: 'smoke',
  eventSeq: null,
  userId: 'user',
  byRole: null,
  byOwner: false,
})

test('stops are published one by one and in full, however many other hints are pending', async () => {
  const received = await listener()
  await using proxy = await createTcpProxy(redisServer.url)
  const { bus, publisher } = join(proxy.url)
  await publisher.ping()
  proxy.silence()
  const many = Array.from({ length: 1_000 }, (_, index) => String(index))
  const stops = Array.from({ length: 200 }, (_, index) => stopOf(`session ${index}`))
  for (const stop of stops) {
    bus.publish('robots.changed', { robotIds: many })
    bus.publish('robot.stop', stop)
  }
  proxy.restore()
  await waitFor(() => expect(received.messages).toBe(2))
  expect(received.robotIds, 'the others were batched, and some dropped').toHaveLength(21_000)
  await waitFor(() => expect(received.stops).toEqual(stops))
})

test('a stop waits for a reconnecting Redis, other hints do not', async () => {
  const received = await listener()
  await using proxy = await createTcpProxy(redisServer.url)
  const { bus, publisher, subscriber } = join(proxy.url)
  for (const redis of [publisher, subscriber]) redis.on('error', () => {})
  await publisher.ping()
  proxy.cut()
  await waitFor(() => expect(publisher.status).not.toBe('ready'))
  bus.publish('credential.revoked', { apiKeyId: 'lost' })
  bus.publish('robot.stop', stopOf('session'))
  proxy.restore()
  await waitFor(() => expect(received.stops).toEqual([stopOf('session')]))
  bus.publish('credential.revoked', { apiKeyId: 'received' })
  await waitFor(() => expect(received.revoked).toEqual(['received']))
})

test('at most ten thousand stops wait for an unresponsive Redis', async () => {
  const received = await listener()
  await using proxy = await createTcpProxy(redisServer.url)
  const { bus, publisher } = join(proxy.url)
  await publisher.ping()
  proxy.silence()
  for (let index = 0; index < 10_500; index++) bus.publish('robot.stop', stopOf(`session ${index}`))
  proxy.restore()
  await waitFor(() => expect(received.stops).toHaveLength(10_000))
  await publisher.ping()
  bus.publish('robot.stop', stopOf('last'))
  await waitFor(() => expect(received.stops.at(-1)).toEqual(stopOf('last')))
  expect(received.stops).toHaveLength(10_001)
})

test('while Redis is unresponsive, hints are bounded; afterwards they are published again', async () => {
  const received = await listener()
  await using proxy = await createTcpProxy(redisServer.url)
  const { bus, publisher } = join(proxy.url)
  await publisher.ping()
  proxy.silence()
  bus.publish('robots.changed', { robotIds: ['first'] })
  const many = Array.from({ length: 1_000 }, (_, index) => String(index))
  for (let round = 0; round < 100; round++) bus.publish('robots.changed', { robotIds: many })
  proxy.restore()
  await waitFor(() => expect(received.messages).toBe(2))
  expect(received.robotIds).toHaveLength(1 + 20_000)
  bus.publish('robots.changed', { robotIds: ['last'] })
  await waitFor(() => expect(received.robotIds.at(-1)).toBe('last'))
})

test('a process receives its own messages at once, and not a second time over Redis', async () => {
  const others = await listener()
  const { bus, subscriber } = join()
  const received: string[] = []
  bus.subscribe('credential.revoked', ({ apiKeyId }) => received.push(apiKeyId))
  const arrived = new Set<string>()
  subscriber.on('message', (_channel, text) => arrived.add(JSON.parse(text).message.apiKeyId))
  await waitFor(() => {
    bus.publish('credential.revoked', { apiKeyId: 'own' })
    expect(arrived).toContain('own') // its own message has returned
  })
  const times = received.length
  bus.publish('credential.revoked', { apiKeyId: 'last' })
  await waitFor(() => expect(arrived).toContain('last'))
  expect(received).toEqual([...Array(times).fill('own'), 'last'])
  expect(others.revoked).toContain('own')
})
