import { expect, test, vi } from 'vitest'
import { createMemoryBus } from '../../../core/events/bus.ts'
import { createLog } from '../../../core/log.ts'
import { createGuard } from '../../../core/process/guard.ts'
import { watchRevocations } from './revocation-watch.ts'

test('finds a revocation without a hint within a second: it polls twice a second, and covers the time since', async () => {
  const log = createLog({ level: 'silent', pretty: false })
  const guard = createGuard({ role: 'test', log, count() {} })
  const intervals: number[] = []
  const every: typeof guard.every = (name, ms, work) => {
    intervals.push(ms)
    return guard.every(name, ms, work)
  }
  let nowMs = 0
  const asked: number[] = []
  const found: string[] = []
  const watch = watchRevocations(
    {
      apiKeys: {
        revokedWithin: async (ms) => {
          asked.push(ms)
          return ['key']
        },
      },
      users: {
        permissionsChangedWithin: async () => [{ id: 'user', permissions_version: 2, suspended: false }],
      },
      bus: createMemoryBus(() => {}),
      guard: { ...guard, every },
      log,
      monotonicMs: () => nowMs,
    },
    {
      keyRevoked: (id) => found.push(id),
      permissionsChanged: ({ id }) => found.push(id),
    },
  )
  expect(intervals).toEqual([500])
  nowMs = 20_000 // polls were missed for so long
  guard.runRound('timer:revocations')
  await vi.waitFor(() => expect(found).toEqual(['key', 'user']))
  expect(asked[0]).toBeGreaterThan(20_000)
  watch.close()
})
