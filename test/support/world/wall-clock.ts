import { onTestFinished, vi } from 'vitest'

/**
 * Stops the wall clock of this process, by which a gateway measures limits of seconds, until the end of the test. Returns a
 * function that advances it. The test needs a separate world: all worlds of the process have the same clock.
 */
export function stopWallClock(): { advance(ms: number): void } {
  let nowMs = Date.now()
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => spy.mockRestore())
  return {
    advance(ms) {
      nowMs += ms
    },
  }
}
