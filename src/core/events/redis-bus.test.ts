import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import type { RobotStop } from './bus.ts'
import { createRedisBus } from './redis-bus.ts'

const STOP: RobotStop = {
  sessionId: 'session',
  reason: 'emergency',
  eventSeq: null,
  userId: null,
  byRole: null,
  byOwner: false,
}

/** Creates a bus whose Redis accepts messages and never answers. Returns what was sent to it. */
function createSilentRedis() {
  const sent = new Map<string, number>()
  const publisher = {
    status: 'ready',
    publish(channel: string) {
      const topic = channel.slice(channel.lastIndexOf(':') + 1)
      sent.set(topic, (sent.get(topic) ?? 0) + 1)
      return new Promise(() => {})
    },
  }
  const bus = createRedisBus({
    publisher: publisher as unknown as Redis,
    subscriber: new EventEmitter() as unknown as Redis,
    processId: 'process',
    report: (cause) => expect.unreachable(String(cause)),
  })
  return { bus, sent }
}

const times = (count: number, publish: () => void) => {
  for (let number = 0; number < count; number++) publish()
}

test('stops and revocations are sent while Redis does not answer, and other messages fill the limit', () => {
  const { bus, sent } = createSilentRedis()
  times(20_000, () => bus.publish('jobs.cancelled', { jobIds: ['job'] }))
  const ordinary = sent.get('jobs.cancelled') ?? 0
  expect(ordinary).toBeLessThan(20_000)
  bus.publish('robot.stop', STOP)
  bus.publish('credential.revoked', { apiKeyId: 'key' })
  bus.publish('recording_link.revoked', { linkId: 'link' })
  bus.publish('permissions.lost', { userId: 'user', suspended: true })
  bus.publish('jobs.cancelled', { jobIds: ['job'] })
  expect(Object.fromEntries(sent)).toEqual({
    'jobs.cancelled': ordinary,
    'robot.stop': 1,
    'credential.revoked': 1,
    'recording_link.revoked': 1,
    'permissions.lost': 1,
  })
})

test('a flood of revocations is bounded, and leaves room for stops', () => {
  const { bus, sent } = createSilentRedis()
  times(50_000, () => bus.publish('credential.revoked', { apiKeyId: 'key' }))
  expect(sent.get('credential.revoked')).toBeLessThan(50_000)
  times(50_000, () => bus.publish('robot.stop', STOP))
  expect(sent.get('robot.stop')).toBeGreaterThan(0)
  expect(sent.get('robot.stop')).toBeLessThan(50_000)
})
