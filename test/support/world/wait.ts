import { WAIT_LIMIT_MS } from '../wait-limit.ts'

const INTERVAL_MS = 10
// The real one: imports precede fake timers.
const { setTimeout } = globalThis

/**
 * Repeats a check until it does not throw, and returns its result. Leaves the clock alone that a test fakes, which `vi.waitFor`
 * advances with each check, also that of a later test if a check never succeeds.
 */
export async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  const endS = process.uptime() + WAIT_LIMIT_MS / 1_000
  for (;;) {
    try {
      return await check()
    } catch (cause) {
      if (process.uptime() > endS) throw cause
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
  }
}
