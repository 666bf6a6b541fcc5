import { vi } from 'vitest'

/** Ends a hang. Far longer than any wait on a busy machine: no test asserts a duration by it. */
export const WAIT_LIMIT_MS = 60_000

const options = { timeout: WAIT_LIMIT_MS, interval: 10 }

/** Repeats a check until it does not throw, and returns its result. */
export const waitFor = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, options)
