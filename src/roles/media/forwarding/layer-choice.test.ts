import { expect, test } from 'vitest'
import { LayerChoice } from './layer-choice.ts'

const rates = [150_000, 500_000, 1_500_000]

test('a viewer receives the largest layer, also one that begins later', () => {
  const choice = new LayerChoice()
  expect(choice.choose(rates.slice(0, 2), undefined, 0)).toBe(1)
  expect(choice.choose(rates, undefined, 100)).toBe(2)
  expect(choice.choose(rates, 1_400_000, 10_000)).toBe(2)
})

test('a slow path gets the largest layer that it allows, and a larger one is tried again after longer and longer waits', () => {
  const choice = new LayerChoice()
  expect(choice.choose(rates, 600_000, 0), 'before the estimate is meaningful').toBe(2)
  expect(choice.choose(rates, 600_000, 3_000)).toBe(1)
  expect(choice.choose(rates, 600_000, 10_000)).toBe(1)
  expect(choice.choose(rates, 600_000, 11_000), 'tried').toBe(2)
  expect(choice.choose(rates, 600_000, 14_000), 'failed').toBe(1)
  expect(choice.choose(rates, 600_000, 29_000)).toBe(1)
  expect(choice.choose(rates, 600_000, 30_000), 'tried after twice the wait').toBe(2)
})

test('a path that allows none gets the smallest one', () => {
  const choice = new LayerChoice()
  choice.choose(rates, undefined, 0)
  expect(choice.choose(rates, 50_000, 5_000)).toBe(0)
})

test('a layer that is no longer sent is replaced by the next smaller one', () => {
  const choice = new LayerChoice()
  choice.choose(rates, undefined, 0)
  expect(choice.choose(rates.slice(0, 1), undefined, 1_000)).toBe(0)
})
