import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { usePlatform } from '../platform/platform.ts'
import type { Freshness } from './freshness.ts'
import { createFreshnessSampler, type ReadAges } from './freshness-sampler.ts'
import type { LinkAges } from './link-ages.ts'

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
 * Returns whether nothing has arrived over a connection for a second, so that what it has reported may be outdated. Renders
 * the component again only when that changes.
 * @param readLinkAges stable between renders; undefined without a connection, which is not silent
 */
export function useIsSilent(readLinkAges: (() => LinkAges) | undefined): boolean {
  const sampler = useMemo(
    () =>
      createFreshnessSampler(() => ({
        pictureMs: undefined,
        telemetryMs: undefined,
        linkMs: readLinkAges?.().linkMs ?? 0,
      })),
    [readLinkAges],
  )
  return useSyncExternalStore(sampler.subscribe, () => sampler.get().state === 'BLIND')
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
