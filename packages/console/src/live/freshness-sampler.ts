import { createFreshnessTracker, type Freshness, type FreshnessAges, looksEqual } from './freshness.ts'

/** Returns the ages at the time of the call. */
export type ReadAges = () => FreshnessAges

/** Runs a callback before the next picture of the display. Returns a function that cancels it. */
type NextFrame = (callback: () => void) => () => void

/** The sampled freshness, as an external store of React. */
interface FreshnessSampler {
  get(): Freshness
  subscribe(listener: () => void): () => void
}

const onAnimationFrame: NextFrame = (callback) => {
  const frame = requestAnimationFrame(callback)
  return () => cancelAnimationFrame(frame)
}

/**
 * Samples ages at the rate of the display while there are listeners, and calls them only when the page must look
 * different.
 */
export function createFreshnessSampler(readAges: ReadAges, nextFrame = onAnimationFrame): FreshnessSampler {
  const listeners = new Set<() => void>()
  const track = createFreshnessTracker()
  const read = () => track(readAges(), performance.now())
  let freshness = read()
  let cancel: (() => void) | undefined

  function sample(): void {
    cancel = nextFrame(sample)
    const next = read()
    if (looksEqual(freshness, next)) return
    freshness = next
    for (const listener of [...listeners]) listener()
  }

  return {
    get: () => freshness,
    subscribe(listener) {
      listeners.add(listener)
      cancel ??= nextFrame(sample)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        cancel?.()
        cancel = undefined
      }
    },
  }
}
