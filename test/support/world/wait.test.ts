import { afterEach, expect, test, vi } from 'vitest'
import { waitFor } from './wait.ts'

afterEach(() => void vi.useRealTimers())

test('waits in real time, and does not advance a fake clock', async () => {
  vi.useFakeTimers()
  const startMs = performance.now()
  let checks = 0
  const checked = () => {
    if (++checks < 3) throw new Error('not yet')
    return checks
  }
  expect(await waitFor(checked)).toBe(3)
  expect(performance.now()).toBe(startMs)
})
