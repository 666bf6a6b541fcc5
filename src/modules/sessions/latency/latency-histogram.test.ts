import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BUCKET_COUNT, bucketOf, percentile, upperBoundMs } from './latency-histogram.ts'

const buckets = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket)
const [LAST, HIGHEST_MS] = [BUCKET_COUNT - 1, 60_000]

/** Returns the next larger and the next smaller floating-point number. */
const above = (value: number) => value * (1 + Number.EPSILON)
const below = (value: number) => value * (1 - Number.EPSILON)

function histogramOf(ages: readonly number[]): number[] {
  const counts = buckets.map(() => 0)
  for (const age of ages) {
    const bucket = bucketOf(age)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}

describe('the histogram buckets', () => {
  test('cover 0.1 ms to one minute in 64 buckets, each about 24 % wider than the previous one', () => {
    expect(BUCKET_COUNT).toBe(64)
    expect(upperBoundMs(0)).toBe(0.1)
    expect(upperBoundMs(LAST)).toBe(HIGHEST_MS)
    for (const bucket of buckets.slice(1)) {
      const growth = upperBoundMs(bucket) / upperBoundMs(bucket - 1)
      expect(growth, `bucket ${bucket}`).toBeGreaterThan(1.23)
      expect(growth, `bucket ${bucket}`).toBeLessThan(1.24)
    }
  })

  test.each(buckets)('bucket %i contains its upper bound and no higher latency', (bucket) => {
    const bound = upperBoundMs(bucket)
    expect(bucketOf(bound)).toBe(bucket)
    expect(bucketOf(below(bound))).toBe(bucket)
    expect(bucketOf(above(bound))).toBe(Math.min(bucket + 1, LAST))
  })

  test('cover every latency: bucket 0 contains shorter ones, the last bucket contains longer ones', () => {
    for (const ms of [-1, -0, 0, Number.MIN_VALUE, 0.05]) expect(bucketOf(ms), String(ms)).toBe(0)
    for (const ms of [HIGHEST_MS * 2, 1e12, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
      expect(bucketOf(ms), String(ms)).toBe(LAST)
    }
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (ms) => {
        const bucket = bucketOf(ms)
        expect(buckets).toContain(bucket)
        if (bucket < LAST) expect(ms).toBeLessThanOrEqual(upperBoundMs(bucket))
        if (bucket > 0) expect(ms).toBeGreaterThan(upperBoundMs(bucket - 1))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([-1, 64, 0.5, Number.NaN])('upperBoundMs rejects bucket %d', (bucket) => {
    expect(() => upperBoundMs(bucket)).toThrow(RangeError)
  })
})

describe('percentile', () => {
  const age = fc.oneof(
    fc.double({ min: 0, max: 1_000, noNaN: true }),
    fc.double({ min: 0, max: 100_000, noNaN: true }),
  )
  const share = fc.oneof(fc.constantFrom(0, 0.5, 0.95, 1), fc.double({ min: 0, max: 1, noNaN: true }))

  test('is at least the exact percentile, at most the longest latency, and at most one bucket too high', () => {
    fc.assert(
      fc.property(fc.array(age, { minLength: 1, maxLength: 200 }), share, (ages, q) => {
        const sorted = ages.toSorted((left, right) => left - right)
        const exact = sorted[Math.max(1, Math.ceil(q * ages.length)) - 1] as number
        const longest = sorted.at(-1) as number
        const estimate = percentile(histogramOf(ages), q, longest) as number
        expect(estimate).toBeGreaterThanOrEqual(exact)
        expect(estimate).toBeLessThanOrEqual(longest)
        if (bucketOf(exact) < LAST) expect(estimate).toBeLessThanOrEqual(upperBoundMs(bucketOf(exact)))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(buckets)('of latencies in bucket %i only is its bound, or the longest latency', (bucket) => {
    const counts = buckets.map((index) => (index === bucket ? 1_000 : 0))
    const bound = upperBoundMs(bucket)
    for (const q of [0, 0.5, 0.95, 1]) {
      expect(percentile(counts, q, below(bound))).toBe(below(bound))
      expect(percentile(counts, q, bound)).toBe(bound)
    }
  })

  test('changes buckets exactly where the cumulative share does', () => {
    const counts = buckets.map((bucket) => (bucket === 10 ? 95 : bucket === 20 ? 5 : 0))
    expect(percentile(counts, 0.95, 100)).toBe(upperBoundMs(10))
    expect(percentile(counts, 0.951, 100)).toBe(upperBoundMs(20))
    expect(percentile(counts, 0, 100)).toBe(upperBoundMs(10))
    expect(percentile(counts, 1, 100)).toBe(upperBoundMs(20))
  })

  test('in the unbounded last bucket is the longest latency', () => {
    expect(percentile(histogramOf([1, 90_000]), 0.95, 90_000)).toBe(90_000)
  })

  test('of an empty histogram is undefined', () => {
    expect(
      percentile(
        buckets.map(() => 0),
        0.5,
        0,
      ),
    ).toBeUndefined()
    expect(percentile([], 0.5, 0)).toBeUndefined()
  })

  test('of the sum of two histograms equals the percentile of all latencies', () => {
    fc.assert(
      fc.property(fc.array(age, { minLength: 1 }), fc.array(age), share, (left, right, q) => {
        const all = [...left, ...right]
        const [leftCounts, rightCounts] = [histogramOf(left), histogramOf(right)]
        const sum = leftCounts.map((count, bucket) => count + (rightCounts[bucket] as number))
        const longest = Math.max(...all)
        expect(percentile(sum, q, longest)).toBe(percentile(histogramOf(all), q, longest))
      }),
    )
  })
})
