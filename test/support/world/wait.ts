import { setTimeout as delay } from 'node:timers/promises'
import { vi } from 'vitest'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 50]

/**
 * Repeats a check until it does not throw, and returns its result. It pauses longer and longer between two checks, because
 * many checks are requests, and the platform needs the processor. Under a fake clock, it advances that clock.
 */
export async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  if (vi.isFakeTimers()) return await vi.waitFor(check, { timeout: WAIT_LIMIT_MS, interval: 10 })
  const endMs = performance.now() + WAIT_LIMIT_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > endMs) throw error
    }
    await delay(pauseMs)
  }
}
