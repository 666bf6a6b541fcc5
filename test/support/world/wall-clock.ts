import { onTestFinished, vi } from 'vitest'
import { monotonic } from '../../../gateway/base/clock.ts'

/**
 * Stops the wall clock of this process, and the clock by which its gateways measure limits, until the end of the test. Returns a
 * function that advances both. The test needs a separate world: all worlds of the process have the same clock.
 */
export function stopWallClock(): { advance(ms: number): void } {
  let nowMs = Date.now()
  let monotonicMs = Math.ceil(monotonic.nowMs()) // whole, so that sums are exact
  const spies = [
    vi.spyOn(Date, 'now').mockImplementation(() => nowMs),
    vi.spyOn(monotonic, 'nowMs').mockImplementation(() => monotonicMs),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return {
    advance(ms) {
      nowMs += ms
      monotonicMs += ms
    },
  }
}
