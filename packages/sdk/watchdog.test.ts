import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Watchdog } from './watchdog.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function createWatchdog() {
  const onSilence = vi.fn()
  const watchdog = new Watchdog(onSilence)
  watchdog.limit(250)
  return { onSilence, watchdog }
}

test('a watchdog does not fire while frames arrive, and fires once when they stop', () => {
  const { onSilence, watchdog } = createWatchdog()
  for (let frame = 0; frame < 100; frame++) {
    watchdog.feed()
    vi.advanceTimersByTime(240)
  }
  expect(onSilence).not.toHaveBeenCalled()
  expect(watchdog.moving).toBe(true)
  vi.advanceTimersByTime(10)
  expect(onSilence).toHaveBeenCalledOnce()
  expect(watchdog.moving).toBe(false)
  vi.advanceTimersByTime(10_000)
  expect(onSilence).toHaveBeenCalledOnce()
})

test('a watchdog that is disarmed waits for the next frame', () => {
  const { onSilence, watchdog } = createWatchdog()
  watchdog.feed()
  watchdog.disarm()
  vi.advanceTimersByTime(10_000)
  expect(onSilence).not.toHaveBeenCalled()
  watchdog.feed()
  vi.advanceTimersByTime(250)
  expect(onSilence).toHaveBeenCalledOnce()
})
