import { expect, test } from 'vitest'
import { createMemoryBus } from '../../../core/events/bus.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { createRememberedCallers } from './remembered-callers.ts'

const HOUR_MS = 3_600_000

const callerOf = (userId: string, keyId = 'key', expiresAt: Date | null = null): Caller => ({
  userId,
  displayName: userId,
  roles: ['client'],
  organization: { id: userId, role: 'owner', groupIds: null },
  permissionsVersion: 1,
  credential: { kind: 'api_key', id: keyId, expiresAt, scopes: null },
})

function createFixture() {
  let nowMs = 0
  const bus = createMemoryBus((cause) => {
    throw cause
  })
  return {
    bus,
    callers: createRememberedCallers(bus, () => nowMs),
    pass(ms: number) {
      nowMs += ms
    },
  }
}

test('a credential is remembered for an hour after its last use, and never longer than it is valid', () => {
  const { callers, pass } = createFixture()
  callers.remember('a', callerOf('ada'))
  callers.remember('b', callerOf('bob', 'key', new Date(HOUR_MS / 2)))
  expect(callers.find('a')?.userId).toBe('ada')
  expect(callers.find('other')).toBeUndefined()
  pass(HOUR_MS / 2)
  expect(callers.find('b')).toBeUndefined()
  callers.remember('a', callerOf('ada'))
  pass(HOUR_MS - 1)
  expect(callers.find('a')?.userId).toBe('ada')
  pass(1)
  expect(callers.find('a')).toBeUndefined()
})

test('a revoked key, a user who lost a permission, and a refused credential are forgotten', async () => {
  const { bus, callers } = createFixture()
  callers.remember('a', callerOf('ada', 'key of ada'))
  callers.remember('b', callerOf('bob', 'key of bob'))
  callers.remember('c', callerOf('cid', 'key of cid'))
  bus.publish('credential.revoked', { apiKeyId: 'key of ada' })
  bus.publish('permissions.lost', { userId: 'bob', suspended: false })
  await Promise.resolve()
  expect(['a', 'b', 'c'].map((key) => callers.find(key)?.userId)).toEqual([undefined, undefined, 'cid'])
  callers.forget('c')
  expect(callers.find('c')).toBeUndefined()
})

test('the newest ten thousand callers are remembered', () => {
  const { callers } = createFixture()
  for (let index = 0; index < 10_001; index++) callers.remember(`${index}`, callerOf('ada'))
  expect(callers.find('0')).toBeUndefined()
  expect(callers.find('1')).toBeDefined()
  expect(callers.find('10000')).toBeDefined()
})
