import { createBatchLoader } from '../src/core/database/batch-loader.ts'

const INTERVAL_MS = 25
/** Clients that return together and continue in the same turn. */
const MAX_RELEASED = 1_000

/**
 * Creates a function that settles at once for a lone arrival, and together for all arrivals of the next 25 milliseconds.
 * Work that starts together loads together: thousands of clients that return at once cause forty queries of each kind a
 * second, however many they are.
 */
export function createArrivals(): () => Promise<unknown> {
  const release = createBatchLoader(async (arrivals: readonly true[]) => arrivals, {
    maxBatchSize: MAX_RELEASED,
    intervalMs: INTERVAL_MS,
  })
  return () => release(true)
}
