import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCounter } from './rate-limit-counter.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a window begins with its first request, and the next one after its end has the whole limit again', async () => {
  const count = createCounter({ name: 'x', limit: 2, windowSeconds: 60, redis: undefined })
  expect(await count('me')).toEqual({ allowed: true, remaining: 1, resetMs: 60_000 })
  await vi.advanceTimersByTimeAsync(40_000)
  expect(await count('me')).toEqual({ allowed: true, remaining: 0, resetMs: 20_000 })
  expect(await count('me')).toMatchObject({ allowed: false, remaining: 0, resetMs: 20_000 })
  expect(await count('other')).toMatchObject({ allowed: true, remaining: 1 })
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await count('me')).toMatchObject({ allowed: true, remaining: 1 })
})
