import { describe, expect, test } from 'vitest'
import { pauseMs, retryDelayMs } from './delivery-schedule.ts'

const HOUR_MS = 3_600_000
const [earliest, latest] = [() => 0, () => 1]

describe('a failed delivery', () => {
  const planned = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

  test.each(planned.map((seconds, index) => [index + 1, seconds]))(
    'is retried after failure %i in %i seconds, or up to a fifth later',
    (attempts, seconds) => {
      expect(retryDelayMs(attempts, undefined, earliest)).toBe(seconds * 1_000)
      expect(retryDelayMs(attempts, undefined, latest)).toBe(seconds * 1_200)
    },
  )

  test('is given up after the tenth attempt', () => {
    expect(retryDelayMs(10, undefined, earliest)).toBeUndefined()
    expect(retryDelayMs(10, HOUR_MS, earliest)).toBeUndefined()
  })

  test.each([
    [2 * HOUR_MS, 2 * HOUR_MS],
    [1_000, 5_000],
    [1_000 * HOUR_MS, 24 * HOUR_MS],
  ])('whose receiver asks for a pause of %i ms is retried in %i ms', (asked, delayMs) => {
    expect(retryDelayMs(1, asked, earliest)).toBe(delayMs)
  })
})

test.each([
  [1, undefined, 1_000],
  [2, undefined, 2_000],
  [6, undefined, 32_000],
  [7, undefined, 60_000],
  [1_000, undefined, 60_000],
  [1, 30_000, 30_000],
  [7, 30_000, 60_000],
  [1, 2 * HOUR_MS, HOUR_MS],
])('after %i failures and a requested pause of %s ms a webhook pauses for %i ms', (failures, asked, ms) => {
  expect(pauseMs(failures, asked)).toBe(ms)
})
