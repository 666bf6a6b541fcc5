import { afterEach, expect, test, vi } from 'vitest'
import { createGatewayClock, monotonic, StallClock } from './clock.ts'

afterEach(() => vi.restoreAllMocks())

test('a step of the wall clock changes stamps, and no duration', () => {
  let [wallMs, elapsedMs] = [1_000_000, 500.25]
  vi.spyOn(Date, 'now').mockImplementation(() => wallMs)
  vi.spyOn(monotonic, 'nowMs').mockImplementation(() => elapsedMs)
  const pass = (ms: number) => {
    wallMs += ms
    elapsedMs += ms
  }
  const { clockMs, unixMs } = createGatewayClock()
  expect(clockMs()).toBe(1)
  expect(unixMs(clockMs())).toBe(1_000_000)
  for (const stepMs of [3_600_000, -7_200_000]) {
    const beforeMs = clockMs()
    pass(250)
    wallMs += stepMs
    expect(clockMs() - beforeMs).toBe(250)
    expect(unixMs(clockMs())).toBe(wallMs)
    expect(unixMs(beforeMs)).toBe(wallMs - 250)
  }
})

test('stamps of one moment are equal while the clocks only drift', () => {
  let wallMs = 1_000_000
  vi.spyOn(Date, 'now').mockImplementation(() => wallMs)
  vi.spyOn(monotonic, 'nowMs').mockImplementation(() => 0)
  const { unixMs } = createGatewayClock()
  const stamp = unixMs(1)
  wallMs += 20
  expect(unixMs(1)).toBe(stamp)
})

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
