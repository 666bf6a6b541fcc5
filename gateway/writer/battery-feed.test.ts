import { expect, test } from 'vitest'
import { chargeOf } from './battery-feed.ts'

test.each([
  [0.83, 0.83],
  [1.2, 1],
  [-0.1, 0],
  [85, 1],
  [-0, 0],
])('the charge %d of a robot counts as %d', (sent, charge) => expect(chargeOf(sent)).toBe(charge))
