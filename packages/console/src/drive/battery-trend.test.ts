import { expect, test } from 'vitest'
import { createBatteryTrend } from './measurements.ts'

const MINUTE_MS = 60_000

test('a battery without a report has no reading, and one report has no trend', () => {
  const trend = createBatteryTrend()
  expect(trend.read()).toBeUndefined()
  trend.add(0.9, 0)
  expect(trend.read()).toEqual({ charge: 0.9, level: 'good', trend: 'unknown', minutesLeft: undefined })
})

test('a draining battery has the minutes that are left at its rate', () => {
  const trend = createBatteryTrend()
  for (let minute = 0; minute <= 10; minute++) trend.add(0.6 - minute * 0.01, minute * MINUTE_MS)
  expect(trend.read()).toMatchObject({ trend: 'draining', minutesLeft: 50, level: 'good' })
})

test('the newest report counts, also within a minute', () => {
  const trend = createBatteryTrend()
  trend.add(0.32, 0)
  trend.add(0.31, 3 * MINUTE_MS)
  trend.add(0.16, 3 * MINUTE_MS + 1_000)
  expect(trend.read()).toMatchObject({ charge: 0.16, level: 'low' })
  trend.add(0.15, 3 * MINUTE_MS + 2_000)
  expect(trend.read()?.level).toBe('critical')
})

test('a charging and a level battery have no minutes left', () => {
  const charging = createBatteryTrend()
  charging.add(0.5, 0)
  charging.add(0.6, 5 * MINUTE_MS)
  expect(charging.read()).toMatchObject({ trend: 'charging', minutesLeft: undefined })
  const level = createBatteryTrend()
  level.add(0.5, 0)
  level.add(0.5, 5 * MINUTE_MS)
  expect(level.read()).toMatchObject({ trend: 'level', minutesLeft: undefined })
})

test('only the last hour counts', () => {
  const trend = createBatteryTrend()
  trend.add(1, 0)
  for (let minute = 1; minute <= 100; minute++) trend.add(0.5, minute * MINUTE_MS)
  expect(trend.read()).toMatchObject({ trend: 'level' })
})
