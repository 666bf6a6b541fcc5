import { expect, test } from 'vitest'
import { waitFor } from '../../../../test/support/world/wait.ts'
import { createMemoryBus } from '../../../core/events/bus.ts'
import { createLog } from '../../../core/log.ts'
import { createGuard } from '../../../core/process/guard.ts'
import { watchRevocations } from './revocation-watch.ts'

/** Watches sources that a test fills. The timer never fires. */
function watching() {
  const log = createLog({ level: 'silent', pretty: false })
  const guard = createGuard({ role: 'test', log, count() {} })
  const bus = createMemoryBus(() => {})
  const clock = { nowMs: 0 }
  const sources = { keys: [] as string[], users: [] as string[] }
  const intervals: number[] = []
  const asked: number[] = []
  const found: string[] = []
  const every: typeof guard.every = (name, ms, work) => {
    intervals.push(ms)
    return guard.every(name, 2 ** 30, work)
  }
  const watch = watchRevocations(
    {
      apiKeys: {
        revokedWithin: async (ms) => {
          asked.push(ms)
          return sources.keys
        },
      },
      users: {
        permissionsChangedWithin: async () =>
          sources.users.map((id) => ({ id, permissions_version: 2, suspended: false })),
      },
      bus,
      guard: { ...guard, every },
      log,
      monotonicMs: () => clock.nowMs,
    },
    {
      keyRevoked: (id) => found.push(id),
      permissionsChanged: ({ id }) => found.push(id),
    },
  )
  return { guard, bus, clock, sources, intervals, asked, found, watch }
}

test('finds a revocation without a message within a second: it polls twice a second, and covers the time since', async () => {
  const { guard, clock, sources, intervals, asked, found, watch } = watching()
  expect(intervals).toEqual([500])
  sources.keys = ['key']
  sources.users = ['user']
  clock.nowMs = 20_000 // polls were missed for so long
  guard.runRound('timer:revocations')
  await waitFor(() => expect(found).toEqual(['key', 'user']))
  expect(asked[0]).toBeGreaterThan(20_000)
  watch.close()
})

test('a message reports at once, also when it arrives while a poll runs that read the state before', async () => {
  const { bus, sources, found, watch } = watching()
  bus.publish('credential.revoked', { apiKeyId: 'key' })
  await waitFor(() => expect(found).toEqual(['key']))

  bus.publish('permissions.lost', { userId: 'user', suspended: true })
  queueMicrotask(() => {
    sources.users = ['user'] // the first poll has begun
    bus.publish('permissions.lost', { userId: 'user', suspended: true })
  })
  await waitFor(() => expect(found).toEqual(['key', 'user']))
  watch.close()
})

test('ignores messages after it was closed', async () => {
  const { bus, sources, asked, found, watch } = watching()
  watch.close()
  sources.users = ['user']
  bus.publish('credential.revoked', { apiKeyId: 'key' })
  bus.publish('permissions.lost', { userId: 'user', suspended: false })
  await new Promise((resolve) => setImmediate(resolve))
  expect([asked, found]).toEqual([[], []])
})
