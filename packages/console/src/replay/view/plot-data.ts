import type { Overview } from '../data/overview.ts'

/** A pause in the data that is at least this long is shown as a pause. */
const SHORTEST_PAUSE_MS = 3_000
/** A source is taken as interrupted after this many of its usual periods. */
const PERIODS = 4

/** Returns the times of the values of each bucket, in seconds since the start. */
export function timesOf({ originMs, widthMs, passed }: Overview, startMs: number): Float64Array {
  const times = new Float64Array(2 * passed.length)
  for (let index = 0; index < times.length; index++)
    times[index] = (originMs - startMs + widthMs * (index / 2 + 0.25)) / 1_000
  return times
}

/**
 * Returns values as uPlot takes them: null where the source was silent, which interrupts the line, and undefined where there is
 * only no value of this bucket.
 */
export function valuesOf(
  pairs: Float64Array,
  widthMs: number,
  factor: number,
): (number | null | undefined)[] {
  const longest = Math.max(SHORTEST_PAUSE_MS, PERIODS * usualPeriod(pairs) * widthMs) / (widthMs / 2)
  const values: (number | null | undefined)[] = new Array(pairs.length)
  let last = Number.NEGATIVE_INFINITY
  for (let index = 0; index < pairs.length; index++) {
    const value = pairs[index] ?? Number.NaN
    if (Number.isNaN(value)) continue
    values[index] = value * factor
    if (index - last > longest) values.fill(null, Math.max(0, last + 1), index)
    last = index
  }
  return values
}

/** Returns how many buckets there usually are from one with a value to the next: the median, which silence does not change. */
function usualPeriod(pairs: Float64Array): number {
  const periods: number[] = []
  let last = -1
  for (let index = 0; index < pairs.length; index += 2) {
    if (Number.isNaN(pairs[index] ?? Number.NaN)) continue
    if (last >= 0) periods.push((index - last) / 2)
    last = index
  }
  return periods.sort((a, b) => a - b)[periods.length >> 1] ?? 1
}

/** Returns the smallest and the largest value of the bucket of a time; undefined without one nearby. */
export function valueNear(
  { originMs, widthMs }: Overview,
  pairs: Float64Array | undefined,
  atMs: number,
): readonly [low: number, high: number] | undefined {
  if (!pairs) return undefined
  const index = Math.floor((atMs - originMs) / widthMs)
  const reach = Math.ceil(SHORTEST_PAUSE_MS / widthMs)
  for (let step = 0; step <= reach; step++) {
    const [one, other] = [pairs[2 * (index - step)], pairs[2 * (index - step) + 1]]
    if (one !== undefined && other !== undefined && !Number.isNaN(one))
      return [Math.min(one, other), Math.max(one, other)]
  }
  return undefined
}
