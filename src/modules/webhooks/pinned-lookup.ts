import type { LookupFunction } from 'node:net'
import type { TargetAddress } from './target.ts'

/** Returns a lookup function that resolves to the checked addresses, so that DNS rebinding has no effect. */
export const pinnedTo =
  (addresses: readonly TargetAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    const [first] = addresses as [TargetAddress]
    if (options.all) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
