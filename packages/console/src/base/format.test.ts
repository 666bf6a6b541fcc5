import { expect, test } from 'vitest'
import { decimals } from './format.ts'

test.each([0, 0.175, 2.55, -2.55, -0.001, 12_345.678, 1e-9])('%d has the digits of toFixed', (value) => {
  for (const digits of [0, 1, 2]) expect(decimals(value, digits)).toBe(value.toFixed(digits))
})
