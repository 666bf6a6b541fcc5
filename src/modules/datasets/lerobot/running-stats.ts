/** Rows that a quantile is computed from at most. Longer episodes are sampled at equal distances. */
const MAX_SAMPLES = 8_192
/** Numbers in memory for quantiles at most, for features with many dimensions. */
const MAX_NUMBERS = 2_000_000

/** The quantiles that LeRobot expects, by their names. */
export const QUANTILES = { q01: 0.01, q10: 0.1, q50: 0.5, q90: 0.9, q99: 0.99 } as const
export const VECTOR_STATS = ['min', 'max', 'mean', 'std', 'q01', 'q10', 'q50', 'q90', 'q99'] as const
type StatName = (typeof VECTOR_STATS)[number]

/** Statistics of a feature, one number for each of its dimensions. */
export type FeatureStats = Readonly<Record<StatName, readonly number[]>> & { readonly count: number }

/** Collects the statistics of a feature over the rows of an episode, in bounded memory. */
export class RunningStats {
  readonly #size: number
  readonly #maxSamples: number
  readonly #min: Float64Array
  readonly #max: Float64Array
  readonly #mean: Float64Array
  readonly #squares: Float64Array
  #count = 0
  #samples: Float32Array[] = []
  #everyNth = 1

  constructor(size: number) {
    this.#size = size
    this.#maxSamples = Math.min(MAX_SAMPLES, Math.ceil(MAX_NUMBERS / size))
    this.#min = new Float64Array(size).fill(Number.POSITIVE_INFINITY)
    this.#max = new Float64Array(size).fill(Number.NEGATIVE_INFINITY)
    this.#mean = new Float64Array(size)
    this.#squares = new Float64Array(size)
  }

  /** Adds a row. Keeps the vector. */
  add(vector: Float32Array): void {
    const count = ++this.#count
    for (let index = 0; index < this.#size; index++) {
      const value = vector[index] as number
      if (value < (this.#min[index] as number)) this.#min[index] = value
      if (value > (this.#max[index] as number)) this.#max[index] = value
      const delta = value - (this.#mean[index] as number)
      const mean = (this.#mean[index] as number) + delta / count
      this.#mean[index] = mean
      this.#squares[index] = (this.#squares[index] as number) + delta * (value - mean)
    }
    if ((count - 1) % this.#everyNth !== 0) return
    this.#samples.push(vector)
    if (this.#samples.length < this.#maxSamples) return
    this.#samples = this.#samples.filter((_, index) => index % 2 === 0)
    this.#everyNth *= 2
  }

  /** Returns the statistics. There must be at least one row. */
  result(): FeatureStats {
    const count = this.#count
    const sorted = Array.from({ length: this.#size }, (_, index) =>
      Float32Array.from(this.#samples, (sample) => sample[index] as number).sort(),
    )
    const quantile = (q: number) => sorted.map((values) => interpolate(values, q))
    return {
      min: [...this.#min],
      max: [...this.#max],
      mean: [...this.#mean],
      std: Array.from(this.#squares, (sum) => Math.sqrt(sum / count)),
      q01: quantile(QUANTILES.q01),
      q10: quantile(QUANTILES.q10),
      q50: quantile(QUANTILES.q50),
      q90: quantile(QUANTILES.q90),
      q99: quantile(QUANTILES.q99),
      count,
    }
  }
}

/** Returns a quantile of sorted values, between two values where it falls between them. */
function interpolate(sorted: Float32Array, q: number): number {
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)] as number
  const above = sorted[Math.ceil(at)] as number
  return below + (above - below) * (at - Math.floor(at))
}

/**
 * Joins the statistics of two sets of rows, as LeRobot does: exactly, except for the quantiles, which it averages by the number
 * of rows.
 */
export function mergeStats(a: FeatureStats | undefined, b: FeatureStats): FeatureStats {
  if (!a) return b
  const count = a.count + b.count
  const combine = (name: StatName, join: (x: number, y: number) => number) =>
    a[name].map((value, index) => join(value, b[name][index] as number))
  const average = (x: number, y: number) => (x * a.count + y * b.count) / count
  const mean = combine('mean', average)
  const variance = (stats: FeatureStats, index: number) =>
    (stats.std[index] as number) ** 2 + ((stats.mean[index] as number) - (mean[index] as number)) ** 2
  return {
    min: combine('min', Math.min),
    max: combine('max', Math.max),
    mean,
    std: mean.map((_, index) => Math.sqrt(average(variance(a, index), variance(b, index)))),
    q01: combine('q01', average),
    q10: combine('q10', average),
    q50: combine('q50', average),
    q90: combine('q90', average),
    q99: combine('q99', average),
    count,
  }
}
