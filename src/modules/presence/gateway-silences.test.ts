import { expect, test } from 'vitest'
import { createGatewaySilences } from './gateway-silences.ts'

const TIMEOUT_MS = 10_000
const LATE_MS = 6_000
const TIMELY_MS = 500

/** Creates the silences of one gateway, and a clock. */
function createFixture() {
  const silences = createGatewaySilences(TIMEOUT_MS)
  let clockMs = 0
  return {
    fail: silences.noteFailure,
    mayEndSessions: silences.mayEndSessions,
    /** Advances the clock, and sweeps. Returns what the sweep may do. */
    sweepAfter(ms: number, seenMark = 'unchanged'): 'looks' | 'acts' | 'finds it dead' {
      clockMs += ms
      if (!silences.noteAnswer([{ id: 'gateway', seenMark }], clockMs)) return 'looks'
      return silences.silentMs('gateway') > TIMEOUT_MS ? 'finds it dead' : 'acts'
    },
  }
}

test('a late sweep only looks, and the next one acts, however late', () => {
  const { sweepAfter } = createFixture()
  expect(sweepAfter(0)).toBe('acts')
  expect(sweepAfter(2 * TIMEOUT_MS)).toBe('looks')
  expect(sweepAfter(2 * TIMEOUT_MS)).toBe('finds it dead')
  expect(sweepAfter(2 * TIMEOUT_MS)).toBe('looks')
  expect(sweepAfter(2 * TIMEOUT_MS)).toBe('finds it dead')
})

test('of sweeps that are always late, every second one acts, and gateways that renew stay', () => {
  const { sweepAfter } = createFixture()
  const found = Array.from({ length: 6 }, (_, sweep) => sweepAfter(2 * TIMEOUT_MS, `renewal ${sweep}`))
  expect(found).toEqual(['acts', 'looks', 'acts', 'looks', 'acts', 'looks'])
})

test('timely sweeps in between do not put off the end of a dead gateway', () => {
  const { sweepAfter } = createFixture()
  const found = Array.from({ length: 4 }, () => [sweepAfter(LATE_MS), sweepAfter(TIMELY_MS)]).flat()
  expect(found).toEqual(['acts', 'acts', 'looks', 'acts', 'looks', 'acts', 'looks', 'finds it dead'])
})

test('a gateway gets its full time again after a late sweep', () => {
  const { sweepAfter } = createFixture()
  sweepAfter(0)
  expect(sweepAfter(10 * TIMEOUT_MS)).toBe('looks')
  for (let ms = 0; ms < TIMEOUT_MS; ms += TIMELY_MS) expect(sweepAfter(TIMELY_MS)).toBe('acts')
  expect(sweepAfter(TIMELY_MS)).toBe('finds it dead')
})

test('an outage of the database right after a late sweep gives the time once more, but not forever', () => {
  const { sweepAfter, fail } = createFixture()
  sweepAfter(0)
  const found = Array.from({ length: 4 }, () => {
    fail()
    return sweepAfter(2 * TIMEOUT_MS)
  })
  expect(found).toEqual(['looks', 'looks', 'finds it dead', 'looks'])
})

test('sessions end some seconds after a late sweep, and at once if the sweeps are always late', () => {
  const { sweepAfter, mayEndSessions } = createFixture()
  sweepAfter(0)
  expect(mayEndSessions()).toBe(true)
  sweepAfter(LATE_MS)
  const ended = Array.from({ length: 12 }, () => {
    sweepAfter(TIMELY_MS)
    return mayEndSessions()
  })
  expect(ended.indexOf(true)).toBe(11)
  sweepAfter(LATE_MS)
  expect(sweepAfter(LATE_MS)).not.toBe('looks')
  expect(mayEndSessions()).toBe(true)
})
