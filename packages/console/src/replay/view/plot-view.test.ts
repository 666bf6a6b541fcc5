import { expect, test } from 'vitest'
import { valueNear, valuesOf } from './plots.tsx'

const N = Number.NaN

test('a slow source is one line, and a silent one is interrupted', () => {
  // Buckets of half a second, one value each second, then ten seconds of silence.
  const pairs = Float64Array.from([1, 1, N, N, 2, 2, N, N, 3, 3, ...new Array(40).fill(N), 4, 4, N, N])
  const values = valuesOf(pairs, 500, 10)
  expect(values.slice(0, 10)).toEqual([10, 10, undefined, undefined, 20, 20, undefined, undefined, 30, 30])
  expect(values[10]).toBeNull()
  expect(values[49]).toBeNull()
  expect(values[50]).toBe(40)
})

test('finds the value of a time, also of a source that is slow', () => {
  const pairs = Float64Array.from([5, 3, N, N, N, N, N, N])
  const overview = { originMs: 1_000, widthMs: 1_000 } as Parameters<typeof valueNear>[0]
  expect(valueNear(overview, pairs, 1_500)).toEqual([3, 5])
  expect(valueNear(overview, pairs, 3_500)).toEqual([3, 5])
  expect(valueNear(overview, pairs, 900)).toBeUndefined()
  expect(valueNear(overview, undefined, 1_500)).toBeUndefined()
})
