import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FeatureStats, mergeStats, RunningStats } from './running-stats.ts'

function statsOf(values: readonly number[]): FeatureStats {
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

test('quantiles of many values come from a sample', () => {
  const { q01, q50, q99 } = statsOf(Array.from({ length: 100_000 }, (_, index) => index))
  expect(q01[0]).toBeCloseTo(1_000, -2)
  expect(q50[0]).toBeCloseTo(50_000, -2)
  expect(q99[0]).toBeCloseTo(99_000, -2)
})
