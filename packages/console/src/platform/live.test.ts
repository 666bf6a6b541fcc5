import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { throttle } from './live.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('runs at once, then once per interval, and never loses the last call', () => {
  const work = vi.fn()
  const call = throttle(work, 1_000)
  call()
  expect(work).toHaveBeenCalledTimes(1)
  for (let count = 0; count < 50; count++) call()
  expect(work).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(work).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(5_000)
  expect(work).toHaveBeenCalledTimes(2)
  call()
  expect(work).toHaveBeenCalledTimes(3)
})
