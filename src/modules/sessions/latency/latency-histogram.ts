/**
 * A latency histogram of fixed size. Each bucket is about 24 % wider than the previous one, so that latencies from
 * 0.1 ms to one minute have the same relative accuracy. Histograms of several gateways can be added.
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

/** Returns the upper bound of a bucket in milliseconds. The last bucket also contains all longer latencies. */
export function upperBoundMs(bucket: number): number {
  const bound = upperBounds[bucket]
  if (bound === undefined) throw new RangeError(`bucket ${bucket} is out of range 0 to ${LAST_BUCKET}`)
  return bound
}

/** Returns the bucket, 0 to 63, of a latency in milliseconds. Bucket 0 also contains all shorter latencies. */
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
 * Returns the latency in milliseconds that a share `q` (0 to 1) of the counted frames does not exceed: the upper bound
 * of the bucket that reaches the share, at most `maxMs`, the longest latency. Returns undefined for an empty histogram.
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
  return maxMs // the last bucket is unbounded
}
