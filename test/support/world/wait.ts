import { vi } from 'vitest'
import { WAIT_LIMIT_MS } from './wait-limit.ts'

export { WAIT_LIMIT_MS }

const options = { timeout: WAIT_LIMIT_MS, interval: 10 }

/** Repeats a check until it does not throw, and returns its result. */
export const waitFor = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, options)
