/** Buckets per doubling: values in the same bucket differ by at most 0.27 %. */
const BUCKETS_PER_DOUBLING = 256
const LEAST_US = 1
/** Up to 2^28 µs, four and a half minutes; longer values count in the last bucket. */
const DOUBLINGS = 28
const BUCKETS = BUCKETS_PER_DOUBLING * DOUBLINGS

/** Summary of a histogram, small enough to send to another process. Microseconds; NaN without values. */
export interface Distribution {
  readonly count: number
  readonly p50Us: number
  readonly p90Us: number
  readonly p99Us: number
  readonly p999Us: number
  readonly maxUs: number
}

/** Counts durations in a fixed number of buckets, with the same relative precision for microseconds and seconds. */
export class Histogram {
  private readonly buckets = new Uint32Array(BUCKETS)
  private countSoFar = 0
  private maxSoFarUs = 0

  get count(): number {
    return this.countSoFar
  }

  /** Values under a microsecond count as one. */
  record(us: number): void {
    const index = Math.floor(Math.log2(Math.max(LEAST_US, us)) * BUCKETS_PER_DOUBLING)
    const bucket = Math.min(BUCKETS - 1, index)
    this.buckets[bucket] = (this.buckets[bucket] as number) + 1
    this.countSoFar++
    if (us > this.maxSoFarUs) this.maxSoFarUs = us
  }

  /** Returns the value that the given share (0 to 1) does not exceed, to 0.27 %; never above the largest. */
  percentile(share: number): number {
    if (this.countSoFar === 0) return Number.NaN
    const rank = Math.max(1, Math.ceil(this.countSoFar * share))
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.buckets[bucket] as number
      if (seen >= rank) return Math.min(this.maxSoFarUs, upperEdgeUs(bucket))
    }
    return this.maxSoFarUs
  }

  summary(): Distribution {
    return {
      count: this.countSoFar,
      p50Us: this.percentile(0.5),
      p90Us: this.percentile(0.9),
      p99Us: this.percentile(0.99),
      p999Us: this.percentile(0.999),
      maxUs: this.countSoFar === 0 ? Number.NaN : this.maxSoFarUs,
    }
  }

  reset(): void {
    this.buckets.fill(0)
    this.countSoFar = 0
    this.maxSoFarUs = 0
  }
}

const upperEdgeUs = (bucket: number) => 2 ** ((bucket + 1) / BUCKETS_PER_DOUBLING)
