import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { usePlatform } from '../platform/platform.ts'
import {
  createFreshnessTracker,
  type Freshness,
  type FreshnessAges,
  type LinkAges,
  looksEqual,
} from './freshness.ts'

/**
 * Returns the freshness of what the page shows, sampled at the rate of the display. Renders the component again only when
 * state or shown age change: use it in small components.
 * @param readAges stable between renders
 */
export function useFreshness(readAges: ReadAges): Freshness {
  const sampler = useMemo(() => createFreshnessSampler(readAges), [readAges])
  return useSyncExternalStore(sampler.subscribe, sampler.get)
}

/**
 * Returns a value that follows from the freshness of what the page shows. Renders the component again only when it changes, and not
 * with every age.
 * @param readAges stable between renders
 */
export function useFreshnessValue<Value extends string | boolean>(
  readAges: ReadAges,
  select: (freshness: Freshness) => Value,
): Value {
  const sampler = useMemo(() => createFreshnessSampler(readAges), [readAges])
  return useSyncExternalStore(sampler.subscribe, () => select(sampler.get()))
}

/**
 * Returns whether nothing has arrived over a connection for a second, so that what it has reported may be outdated. Renders
 * the component again only when that changes.
 * @param readLinkAges stable between renders; undefined without a connection, which is not silent
 */
export function useIsSilent(readLinkAges: (() => LinkAges) | undefined): boolean {
  const readAges = useMemo(
    () => () => ({ pictureMs: undefined, telemetryMs: undefined, linkMs: readLinkAges?.().linkMs ?? 0 }),
    [readLinkAges],
  )
  return useFreshnessValue(readAges, ({ state }) => state === 'BLIND')
}

/** Marks the data of the whole page as outdated while `isOutdated`, for the badge in its header. */
export function useReportOutdated(isOutdated: boolean): void {
  const { live } = usePlatform()
  useEffect(() => {
    if (!isOutdated) return
    live.outdated.set(true)
    return () => live.outdated.set(false)
  }, [live, isOutdated])
}

export type ReadAges = () => FreshnessAges

/** Runs a callback before the next picture of the display. Returns a function that cancels it. */
type NextFrame = (callback: () => void) => () => void

const onAnimationFrame: NextFrame = (callback) => {
  const frame = requestAnimationFrame(callback)
  return () => cancelAnimationFrame(frame)
}

/**
 * Samples ages at the rate of the display while there are listeners, and calls them only when the page must look
 * different.
 */
export function createFreshnessSampler(readAges: ReadAges, nextFrame = onAnimationFrame) {
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
    subscribe(listener: () => void): () => void {
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
