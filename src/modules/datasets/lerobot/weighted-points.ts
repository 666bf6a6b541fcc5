/** The quantiles that LeRobot expects, by their names. */
export const QUANTILES = { q01: 0.01, q10: 0.1, q50: 0.5, q90: 0.9, q99: 0.99 } as const
type QuantileName = keyof typeof QUANTILES

/** A value, and the number of rows that it represents. */
export type WeightedPoint = readonly [value: number, weight: number]

/** Points of a dimension at most, and of all dimensions of a feature together. */
const MAX_POINTS = 1_024
const MIN_POINTS = 64
const MAX_FEATURE_POINTS = 20_000
/** Sums of weights are no exact numbers. */
const PRECISION = 1e-9

/** Returns how many points a dimension of a feature may have. */
export const pointLimit = (dimensions: number): number =>
  Math.min(MAX_POINTS, Math.max(MIN_POINTS, Math.floor(MAX_FEATURE_POINTS / dimensions)))

const weightOf = (points: readonly WeightedPoint[]): number =>
  points.reduce((sum, [, weight]) => sum + weight, 0)

/**
 * Sorts points, and joins neighbours until there are at most as many as the limit. Each joined point is one of the values, in the
 * middle of the rows that it represents, so quantiles are wrong by about one in `limit` rows. Equal values are joined exactly.
 */
export function joinPoints(points: readonly WeightedPoint[], limit: number): WeightedPoint[] {
  const distinct: [number, number][] = []
  for (const [value, weight] of points.toSorted((a, b) => a[0] - b[0])) {
    const last = distinct.at(-1)
    if (last?.[0] === value) last[1] += weight
    else distinct.push([value, weight])
  }
  if (distinct.length <= limit) return distinct
  const heaviest = (2 * weightOf(distinct)) / limit
  const joined: WeightedPoint[] = []
  let group: WeightedPoint[] = []
  let groupWeight = 0
  for (const point of distinct) {
    if (group.length > 0 && groupWeight + point[1] > heaviest) {
      joined.push([quantile(group, 0.5), groupWeight])
      group = []
      groupWeight = 0
    }
    group.push(point)
    groupWeight += point[1]
  }
  joined.push([quantile(group, 0.5), groupWeight])
  return joined
}

/** Returns the first of sorted points up to which there is a part of all rows: a value that occurs. */
function quantile(points: readonly WeightedPoint[], part: number): number {
  const rows = weightOf(points) * (part - PRECISION)
  let sum = 0
  for (const [value, weight] of points) {
    sum += weight
    if (sum >= rows) return value
  }
  return points.at(-1)?.[0] ?? 0
}

/** Returns the quantiles of each dimension, from its sorted points. */
export function quantilesOf(
  dimensions: readonly (readonly WeightedPoint[])[],
): Record<QuantileName, number[]> {
  const of = (part: number) => dimensions.map((points) => quantile(points, part))
  return {
    q01: of(QUANTILES.q01),
    q10: of(QUANTILES.q10),
    q50: of(QUANTILES.q50),
    q90: of(QUANTILES.q90),
    q99: of(QUANTILES.q99),
  }
}
