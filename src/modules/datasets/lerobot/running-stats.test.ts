import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MergeableStats, mergeStats, RunningStats } from './running-stats.ts'
import { QUANTILES } from './weighted-points.ts'

function statsOf(values: readonly number[]): MergeableStats {
  const stats = new RunningStats(1)
  for (const value of values) stats.add(Float32Array.of(value))
  return stats.result()
}
const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 200 })

test('statistics are those of all values', () => {
  fc.assert(
    fc.property(values, (list) => {
      const { min, max, mean, std, count } = statsOf(list)
      const average = list.reduce((sum, value) => sum + value, 0) / list.length
      const variance = list.reduce((sum, value) => sum + (value - average) ** 2, 0) / list.length
      expect([min, max, count]).toEqual([[Math.min(...list)], [Math.max(...list)], list.length])
      expect(mean[0]).toBeCloseTo(average, 6)
      expect(std[0]).toBeCloseTo(Math.sqrt(variance), 6)
    }),
  )
})

test('merged statistics are those of both sets together', () => {
  fc.assert(
    fc.property(values, values, (a, b) => {
      const [merged, all] = [mergeStats(statsOf(a), statsOf(b)), statsOf([...a, ...b])]
      for (const name of ['min', 'max', 'mean', 'std'] as const)
        expect(merged[name][0]).toBeCloseTo(all[name][0] as number, 6)
      expect(merged.count).toBe(all.count)
    }),
  )
})

const QUANTILE_NAMES = ['q01', 'q10', 'q50', 'q90', 'q99'] as const

test('quantiles of two episodes are those of all their rows, and values that occur', () => {
  const merged = mergeStats(statsOf(Array(36).fill(0)), statsOf(Array(75).fill(10)))
  expect(QUANTILE_NAMES.map((name) => merged[name][0])).toEqual([0, 0, 10, 10, 10])
  fc.assert(
    fc.property(values, values, (a, b) => {
      const [joined, all] = [mergeStats(statsOf(a), statsOf(b)), statsOf([...a, ...b])]
      for (const name of QUANTILE_NAMES) {
        expect(joined[name]).toEqual(all[name])
        expect([...a, ...b]).toContain(joined[name][0])
      }
    }),
  )
})

/** Returns which part of the values is smaller than a value. */
const rankOf = (sorted: readonly number[], value: number | undefined) =>
  sorted.filter((other) => other < (value ?? 0)).length / sorted.length

test('quantiles of many values, and of many episodes in any order, are right within half a percent of the rows', () => {
  const many = Array.from({ length: 40_000 }, (_, index) => (index * 7_919) % 40_009)
  const episodes = Array.from({ length: 800 }, (_, index) => many.slice(index * 50, index * 50 + 50))
  const rising = episodes.map((_, index) => Array(50).fill(index))
  for (const lists of [[many], episodes, rising, rising.toReversed()]) {
    const stats = lists.map(statsOf).reduce<MergeableStats | undefined>(mergeStats, undefined)
    const sorted = lists.flat().toSorted((a, b) => a - b)
    for (const [name, part] of Object.entries(QUANTILES))
      expect(Math.abs(rankOf(sorted, stats?.[name as 'q01'][0]) - part), name).toBeLessThan(0.005)
    expect(stats?.points[0]?.length).toBeLessThanOrEqual(1_024)
  }
})
