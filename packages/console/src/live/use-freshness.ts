import { useMemo, useSyncExternalStore } from 'react'
import type { Freshness } from './freshness.ts'
import { createFreshnessSampler, type ReadAges } from './freshness-sampler.ts'

/**
 * Returns the freshness of what the page shows, sampled at the rate of the display. Renders the component again only when
 * state or shown age change: use it in small components.
 * @param readAges stable between renders
 */
export function useFreshness(readAges: ReadAges): Freshness {
  const sampler = useMemo(() => createFreshnessSampler(readAges), [readAges])
  return useSyncExternalStore(sampler.subscribe, sampler.get)
}
