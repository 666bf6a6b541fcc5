import { expect, test } from 'vitest'
import { ageText, type FreshnessAges, freshnessOf, looksEqual } from './freshness.ts'
import { createFreshnessSampler } from './freshness-sampler.ts'

const fresh: FreshnessAges = { pictureMs: 30, telemetryMs: 90, linkMs: 10 }

test('the oldest source decides: delayed from 400 ms, blind from 1,000 ms', () => {
  expect(freshnessOf(fresh)).toMatchObject({ state: 'LIVE', ageMs: 90, oldest: 'telemetry' })
  expect(freshnessOf({ ...fresh, pictureMs: 399 })).toMatchObject({ state: 'LIVE', oldest: 'picture' })
  expect(freshnessOf({ ...fresh, pictureMs: 400 })).toMatchObject({ state: 'DELAYED', ageMs: 400 })
  expect(freshnessOf({ ...fresh, linkMs: 999 })).toMatchObject({ state: 'DELAYED', oldest: 'link' })
  expect(freshnessOf({ ...fresh, linkMs: 1_000 })).toMatchObject({ state: 'BLIND', oldest: 'link' })
})

test('a silent connection explains the age of telemetry', () => {
  expect(freshnessOf({ ...fresh, telemetryMs: 1_020 })).toMatchObject({ ageMs: 1_020, oldest: 'telemetry' })
  expect(freshnessOf({ ...fresh, telemetryMs: 1_020, linkMs: 1_000 })).toMatchObject({ oldest: 'link' })
})

test('a robot without camera or telemetry is as fresh as its connection', () => {
  const ages = { pictureMs: undefined, telemetryMs: undefined, linkMs: 20 }
  expect(freshnessOf(ages)).toMatchObject({ state: 'LIVE', ageMs: 20, oldest: 'link' })
})

test('a picture of unknown age is never live, and hides no other age', () => {
  const unknown = { ...fresh, pictureMs: 'unknown' } as const
  expect(freshnessOf(unknown)).toMatchObject({ state: 'DELAYED', oldest: 'picture', isPictureUnknown: true })
  expect(freshnessOf({ ...unknown, linkMs: 3_000 })).toMatchObject({ state: 'BLIND', oldest: 'link' })
})

test('ages are rounded down to what a reader can follow', () => {
  const texts = [0, 439, 999, 1_000, 2_190, 12_900, 119_999, 240_000].map(ageText)
  expect(texts).toEqual(['0 ms', '420 ms', '980 ms', '1.0 s', '2.1 s', '12 s', '119 s', '4 min'])
})

test('the page renders again when state or shown age change, and not for a younger live picture', () => {
  const delayed = freshnessOf({ ...fresh, pictureMs: 500 })
  expect(looksEqual(freshnessOf(fresh), freshnessOf({ ...fresh, pictureMs: 200 }))).toBe(true)
  expect(looksEqual(freshnessOf(fresh), delayed)).toBe(false)
  expect(looksEqual(delayed, freshnessOf({ ...fresh, pictureMs: 510 }))).toBe(true)
  expect(looksEqual(delayed, freshnessOf({ ...fresh, pictureMs: 520 }))).toBe(false)
  expect(looksEqual(delayed, freshnessOf({ ...fresh, linkMs: 500, pictureMs: 0 }))).toBe(false)
})

test('a sampler samples only while there are listeners, and calls them only for a different look', () => {
  let frame: (() => void) | undefined
  let ages = fresh
  let calls = 0
  const sampler = createFreshnessSampler(
    () => ages,
    (callback) => {
      frame = callback
      return () => {
        frame = undefined
      }
    },
  )
  expect(frame).toBeUndefined()
  const unsubscribe = sampler.subscribe(() => calls++)
  ages = { ...fresh, linkMs: 100 }
  frame?.()
  expect([calls, sampler.get().state]).toEqual([0, 'LIVE'])
  ages = { ...fresh, linkMs: 1_200 }
  frame?.()
  expect([calls, sampler.get().state]).toEqual([1, 'BLIND'])
  unsubscribe()
  expect(frame).toBeUndefined()
})
