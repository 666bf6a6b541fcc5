import { expect, test } from 'vitest'
import { PlaybackClock } from './playback-clock.ts'

const ms = (value: number) => BigInt(value) * 1_000_000n

function clockAt(position: bigint) {
  const time = { nowMs: 0 }
  return { time, clock: new PlaybackClock(position, () => time.nowMs) }
}

test('advances at its speed, and never beyond the next message', () => {
  const { time, clock } = clockAt(ms(1_000))
  expect(clock.advanceTo(ms(1_100))).toBe(100)
  time.nowMs = 40
  expect(clock.advanceTo(ms(1_100))).toBe(60)
  expect(clock.positionNs).toBe(ms(1_040))
  clock.setSpeed(2)
  time.nowMs = 60
  expect(clock.advanceTo(ms(1_100))).toBe(10)
  time.nowMs = 70
  expect(clock.advanceTo(ms(1_100))).toBe(0)
  expect(clock.positionNs).toBe(ms(1_100))
})

test('a slow read delays the playback, and does not skip', () => {
  const { time, clock } = clockAt(ms(0))
  time.nowMs = 5_000
  expect(clock.advanceTo(ms(10))).toBe(0)
  expect(clock.advanceTo(ms(50))).toBe(0) // within the delay that is made up for
  expect(clock.advanceTo(ms(1_000))).toBeCloseTo(890, 0)
  expect(clock.positionNs).toBe(ms(110))
})

test('keeps its speed between limits', () => {
  const { clock } = clockAt(0n)
  for (const speed of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) expect(clock.setSpeed(speed)).toBe(false)
  expect(clock.speed).toBe(1)
  expect([clock.setSpeed(1e6), clock.speed]).toEqual([true, 100])
  expect([clock.setSpeed(1e-6), clock.speed]).toEqual([true, 0.01])
})
