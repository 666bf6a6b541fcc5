import { afterEach, expect, test, vi } from 'vitest'
import { createGatewayClock, monotonic } from './gateway-clock.ts'

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
