import { expect, test } from 'vitest'
import { StallClock } from './stall-clock.ts'

test('a late tick is the end of a stall, and its frames may be read for a second', () => {
  const clock = new StallClock(50, 0)
  expect(clock.tick(50)).toBe(false)
  expect(clock.backlogMs(60)).toBe(0)
  expect(clock.backlogMs(8_100)).toBe(8_000) // before the tick
  expect(clock.tick(8_100)).toBe(true)
  expect(clock.tick(8_150)).toBe(false)
  expect(clock.backlogMs(8_150)).toBe(8_000)
  for (let nowMs = 8_200; nowMs <= 9_100; nowMs += 50) expect(clock.tick(nowMs)).toBe(false)
  expect(clock.backlogMs(9_100)).toBe(0)
})

test('a process that is always late has a stall at every other tick at most', () => {
  const clock = new StallClock(50, 0)
  const ends = [1_000, 2_000, 3_000, 4_000].map((nowMs) => clock.tick(nowMs))
  expect(ends).toEqual([true, false, true, false])
})
