import { expect, test } from 'vitest'
import { SampleClock } from './robot-connection.ts'

/** Returns the time of a robot whose clock is an hour ahead. */
const robotMs = (ms: number) => ms + 3_600_000

test('the age of a sample is its delay beyond that of the fastest one', () => {
  const clock = new SampleClock()
  const delays = [30, 10, 10, 400, 250, 10]
  const ages = delays.map((delayMs, index) => clock.ageMs(robotMs(index * 100), index * 100 + delayMs))
  expect(ages.map(Math.round)).toEqual([0, 0, 0, 390, 240, 0])
})

test('a sample without a number, and one whose time does not rise, has no age', () => {
  const clock = new SampleClock()
  for (const t of [undefined, 'noon', Number.NaN, Number.POSITIVE_INFINITY])
    expect(clock.ageMs(t, 1)).toBeNaN()
  expect(clock.ageMs(0, 1)).toBe(0)
  for (const nowMs of [100, 200, 10_000]) expect(clock.ageMs(0, nowMs)).toBeNaN()
})

test('after its clock is set, the ages of a robot are relative to the new time', () => {
  const clock = new SampleClock()
  expect(clock.ageMs(robotMs(0), 10)).toBe(0)
  expect(clock.ageMs(100, 110)).toBeNaN()
  expect(clock.ageMs(200, 230)).toBeCloseTo(20, 0)
  expect(clock.ageMs(robotMs(300), 310)).toBe(0)
})
