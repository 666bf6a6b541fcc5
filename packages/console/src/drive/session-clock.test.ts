import { expect, test } from 'vitest'
import { clockOf } from './session-clock.ts'

const started_at = '2026-11-22T10:00:00.000Z'
const planned_end = '2026-11-22T10:30:00.000Z'
const at = (minutes: number) => Date.parse(started_at) + minutes * 60_000

test('a session that has not started has no clock', () => {
  expect(clockOf({ started_at: null, planned_end }, at(1))).toBeUndefined()
})

test('a session without a planned end runs', () => {
  const clock = clockOf({ started_at, planned_end: null }, at(600))
  expect(clock).toEqual({ elapsedMs: 600 * 60_000, plannedMs: undefined, phase: 'running' })
})

test('the clock warns five minutes before the planned end, and after it', () => {
  const phaseAt = (minutes: number) => clockOf({ started_at, planned_end }, at(minutes))?.phase
  expect([0, 24.9, 25, 29.9, 30, 31].map(phaseAt)).toEqual([
    'running',
    'running',
    'soon',
    'soon',
    'over',
    'over',
  ])
})

test('a browser whose clock is behind shows 0', () => {
  expect(clockOf({ started_at, planned_end }, at(-3))?.elapsedMs).toBe(0)
})
