/** Divides time into a limited number of buckets of the same width. A longer time makes the buckets wider, not more. */
export class BucketGrid {
  readonly originMs: number
  readonly count: number
  #widthMs: number

  constructor({ originMs, spanMs, count }: { originMs: number; spanMs: number; count: number }) {
    this.originMs = originMs
    this.count = count
    this.#widthMs = Math.max(1, spanMs / count)
  }

  get widthMs(): number {
    return this.#widthMs
  }

  /** Returns the bucket of a time; undefined before the first one. */
  indexOf(atMs: number): number | undefined {
    const index = Math.floor((atMs - this.originMs) / this.#widthMs)
    return index < 0 ? undefined : index
  }

  widen(): void {
    this.#widthMs *= 2
  }
}

/** Values in buckets. Every store of a grid is halved when the grid is widened. */
export interface BucketStore {
  halve(): void
}

/** The smallest and the largest value of each bucket, in the order in which they came. */
export class ValueBuckets implements BucketStore {
  readonly #low: Float64Array
  readonly #high: Float64Array
  readonly #lowMs: Float64Array
  readonly #highMs: Float64Array

  constructor(count: number) {
    this.#low = new Float64Array(count).fill(Number.NaN)
    this.#high = new Float64Array(count).fill(Number.NaN)
    this.#lowMs = new Float64Array(count)
    this.#highMs = new Float64Array(count)
  }

  add(index: number, atMs: number, value: number): void {
    if (!((this.#low[index] ?? 0) <= value)) {
      this.#low[index] = value
      this.#lowMs[index] = atMs
    }
    if (!((this.#high[index] ?? 0) >= value)) {
      this.#high[index] = value
      this.#highMs[index] = atMs
    }
  }

  halve(): void {
    const count = this.#low.length
    for (let index = 0; index < count; index++) {
      const [left, right] = [2 * index, 2 * index + 1]
      this.#keep(this.#low, this.#lowMs, index, left, right, -1)
      this.#keep(this.#high, this.#highMs, index, left, right, 1)
    }
  }

  /** Keeps the smaller (`sign` -1) or the larger of two values with its time. */
  #keep(
    values: Float64Array,
    times: Float64Array,
    to: number,
    left: number,
    right: number,
    sign: number,
  ): void {
    const [a, b] = [values[left] ?? Number.NaN, values[right] ?? Number.NaN]
    const from = Number.isNaN(a) || sign * b > sign * a ? right : left
    values[to] = values[from] ?? Number.NaN
    times[to] = times[from] ?? 0
  }

  /** Returns two values for each bucket; NaN where nothing was sent. */
  pairs(): Float64Array<ArrayBuffer> {
    const pairs = new Float64Array(2 * this.#low.length)
    for (let index = 0; index < this.#low.length; index++) {
      const [low, high] = [this.#low[index] ?? Number.NaN, this.#high[index] ?? Number.NaN]
      const lowIsFirst = (this.#lowMs[index] ?? 0) <= (this.#highMs[index] ?? 0)
      pairs[2 * index] = lowIsFirst ? low : high
      pairs[2 * index + 1] = lowIsFirst ? high : low
    }
    return pairs
  }
}

/** How often something happened in each bucket. */
export class CountBuckets implements BucketStore {
  readonly counts: Uint32Array<ArrayBuffer>

  constructor(count: number) {
    this.counts = new Uint32Array(count)
  }

  add(index: number): void {
    this.counts[index] = (this.counts[index] ?? 0) + 1
  }

  halve(): void {
    for (let index = 0; index < this.counts.length; index++)
      this.counts[index] = (this.counts[2 * index] ?? 0) + (this.counts[2 * index + 1] ?? 0)
  }
}

/** The newest pose of each bucket: time, x, y and heading. */
export class PoseBuckets implements BucketStore {
  readonly poses: Float64Array<ArrayBuffer>

  constructor(count: number) {
    this.poses = new Float64Array(4 * count).fill(Number.NaN)
  }

  add(index: number, atMs: number, x: number, y: number, heading: number): void {
    if ((this.poses[4 * index] ?? 0) > atMs) return
    this.poses.set([atMs, x, y, heading], 4 * index)
  }

  halve(): void {
    const count = this.poses.length / 4
    const empty = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]
    for (let index = 0; index < count; index++) {
      const pose = [2 * index + 1, 2 * index]
        .map((from) => this.poses.slice(4 * from, 4 * from + 4))
        .find(([atMs]) => atMs !== undefined && !Number.isNaN(atMs))
      this.poses.set(pose ?? empty, 4 * index)
    }
  }
}
