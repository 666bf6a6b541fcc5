import { WAIT_LIMIT_MS } from '../wait-limit.ts'

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [5, 50]
// The real one: imports precede fake timers.
const { setTimeout } = globalThis

/**
 * Repeats a check until it does not throw, and returns its result. It pauses longer and longer between two checks, because
 * many checks are requests, and the platform needs the processor. Does not advance a fake clock: `vi.waitFor`
 * does with each check, also that of a later test if a check never succeeds.
 */
export async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  const endS = process.uptime() + WAIT_LIMIT_MS / 1_000
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await check()
    } catch (cause) {
      if (process.uptime() > endS) throw cause
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
