/**
 * A histogram of fixed size for how long commands took: its buckets grow by about a quarter each, so that every age
 * from 0.1 ms to a minute is told with the same relative exactness. Histograms of any gateways add up.
 */
export const BUCKET_COUNT = 64

const LOWEST_MS = 0.1
const HIGHEST_MS = 60_000
const LAST_BUCKET = BUCKET_COUNT - 1

const upperBounds = Float64Array.from(
  { length: BUCKET_COUNT },
  (_, bucket) => LOWEST_MS * (HIGHEST_MS / LOWEST_MS) ** (bucket / LAST_BUCKET),
)
upperBounds[LAST_BUCKET] = HIGHEST_MS // exactly

/** The longest age, in milliseconds, that belongs into a bucket; what is longer than all belongs into the last. */
export function upperBoundMs(bucket: number): number {
  const bound = upperBounds[bucket]
  if (bound === undefined) throw new RangeError(`no bucket ${bucket}`)
  return bound
}

/** The bucket of an age in milliseconds: 0 to 63. Ages below those of the first belong into it as well. */
export function bucketOf(ms: number): number {
  let [low, high] = [0, LAST_BUCKET]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ms <= (upperBounds[middle] as number)) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * The age in milliseconds that a share `q` (0 to 1) of all does not exceed: the upper bound of the bucket where that
 * share is reached, at most `maxMs`, the longest age of all. Undefined when nothing was counted.
 */
export function percentile(buckets: readonly number[], q: number, maxMs: number): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = Math.max(1, Math.ceil(q * total))
  let counted = 0
  for (let bucket = 0; bucket < LAST_BUCKET; bucket++) {
    counted += buckets[bucket] ?? 0
    if (counted >= rank) return Math.min(upperBoundMs(bucket), maxMs)
  }
  return maxMs // the last bucket has no bound of its own
}
