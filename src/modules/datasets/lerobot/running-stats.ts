import { joinPoints, pointLimit, QUANTILES, quantilesOf, type WeightedPoint } from './weighted-points.ts'

export const VECTOR_STATS = [
  'min',
  'max',
  'mean',
  'std',
  ...(Object.keys(QUANTILES) as (keyof typeof QUANTILES)[]),
] as const
type StatName = (typeof VECTOR_STATS)[number]

/** Statistics of a feature, one number for each of its dimensions. */
export type FeatureStats = Readonly<Record<StatName, readonly number[]>> & { readonly count: number }
/** Statistics with the values of each dimension, from which the quantiles of several episodes come. */
export type MergeableStats = FeatureStats & { readonly points: readonly (readonly WeightedPoint[])[] }

/** The values of a dimension. Joins them when there are too many. */
class RunningPoints {
  readonly #limit: number
  #points: WeightedPoint[] = []
  #added: WeightedPoint[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(value: number): void {
    this.#added.push([value, 1])
    if (this.#added.length >= this.#limit) this.result()
  }

  result(): WeightedPoint[] {
    this.#points = joinPoints([...this.#points, ...this.#added], this.#limit)
    this.#added = []
    return this.#points
  }
}

/** Collects the statistics of a feature over the rows of an episode, in bounded memory. */
export class RunningStats {
  readonly #min: Float64Array
  readonly #max: Float64Array
  readonly #mean: Float64Array
  readonly #squares: Float64Array
  readonly #points: readonly RunningPoints[]
  #count = 0

  constructor(size: number) {
    this.#min = new Float64Array(size).fill(Number.POSITIVE_INFINITY)
    this.#max = new Float64Array(size).fill(Number.NEGATIVE_INFINITY)
    this.#mean = new Float64Array(size)
    this.#squares = new Float64Array(size)
    this.#points = Array.from({ length: size }, () => new RunningPoints(pointLimit(size)))
  }

  /** Adds a row. */
  add(vector: Float32Array): void {
    const count = ++this.#count
    for (const [index, points] of this.#points.entries()) {
      const value = vector[index] as number
      if (value < (this.#min[index] as number)) this.#min[index] = value
      if (value > (this.#max[index] as number)) this.#max[index] = value
      const delta = value - (this.#mean[index] as number)
      const mean = (this.#mean[index] as number) + delta / count
      this.#mean[index] = mean
      this.#squares[index] = (this.#squares[index] as number) + delta * (value - mean)
      points.add(value)
    }
  }

  /** Returns the statistics. There must be at least one row. */
  result(): MergeableStats {
    const [count, points] = [this.#count, this.#points.map((dimension) => dimension.result())]
    return {
      min: [...this.#min],
      max: [...this.#max],
      mean: [...this.#mean],
      std: Array.from(this.#squares, (sum) => Math.sqrt(sum / count)),
      ...quantilesOf(points),
      count,
      points,
    }
  }
}

/** Joins the statistics of two sets of rows. The quantiles are those of all rows: LeRobot's average of two occurs in neither set. */
export function mergeStats(a: MergeableStats | undefined, b: MergeableStats): MergeableStats {
  if (!a) return b
  const count = a.count + b.count
  const combine = (name: 'min' | 'max' | 'mean', join: (x: number, y: number) => number) =>
    a[name].map((value, index) => join(value, b[name][index] as number))
  const average = (x: number, y: number) => (x * a.count + y * b.count) / count
  const mean = combine('mean', average)
  const variance = (stats: FeatureStats, index: number) =>
    (stats.std[index] as number) ** 2 + ((stats.mean[index] as number) - (mean[index] as number)) ** 2
  const points = a.points.map((known, index) =>
    joinPoints([...known, ...(b.points[index] ?? [])], pointLimit(mean.length)),
  )
  return {
    min: combine('min', Math.min),
    max: combine('max', Math.max),
    mean,
    std: mean.map((_, index) => Math.sqrt(average(variance(a, index), variance(b, index)))),
    ...quantilesOf(points),
    count,
    points,
  }
}
