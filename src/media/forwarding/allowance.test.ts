import { expect, test } from 'vitest'
import { Allowance } from './allowance.ts'

test('an allowance permits a burst, then a rate', () => {
  const allowance = new Allowance({ perSecond: 10, most: 20 })
  expect(allowance.spend(20, 1_000)).toBe(true)
  expect(allowance.spend(1, 1_000)).toBe(false)
  expect(allowance.spend(5, 1_500)).toBe(true)
  expect(allowance.spend(1, 1_500)).toBe(false)
  expect(allowance.spend(20, 60_000)).toBe(true)
  expect(allowance.spend(1, 60_000), 'not more than the burst').toBe(false)
})

test('a clock that goes back grants nothing', () => {
  const allowance = new Allowance({ perSecond: 10, most: 1 })
  expect(allowance.spend(1, 5_000)).toBe(true)
  expect(allowance.spend(1, 1_000)).toBe(false)
})
