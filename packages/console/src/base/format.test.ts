import { expect, test } from 'vitest'
import { decimals, duration } from './format.ts'

test.each([0, 0.175, 2.55, -2.55, -0.001, 12_345.678, 1e-9])('%d has the digits of toFixed', (value) => {
  for (const digits of [0, 1, 2]) expect(decimals(value, digits)).toBe(value.toFixed(digits))
})

test.each([
  [0, '0:00 h'],
  [12.4, '0:12 h'],
  [59.6, '1:00 h'],
  [65, '1:05 h'],
])('%d minutes are %s', (minutes, text) => {
  expect(duration(minutes)).toBe(text)
})
