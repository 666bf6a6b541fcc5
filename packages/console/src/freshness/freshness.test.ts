import { expect, test } from 'vitest'
import { ageText, createFreshnessTracker, type FreshnessAges, freshnessOf, looksEqual } from './freshness.ts'
import { createFreshnessSampler } from './use-freshness.ts'

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
  const silent = freshnessOf({ ...fresh, pictureMs: 1_030, telemetryMs: 1_020, linkMs: 1_000 })
  expect(silent).toMatchObject({ ageMs: 1_030, oldest: 'link' })
})

test('the age of a blind page never falls while the cause changes, until the page is live again', () => {
  const track = createFreshnessTracker()
  const at = (nowMs: number, ages: Partial<FreshnessAges>) => track({ ...fresh, ...ages }, nowMs)
  expect(at(10_000, { telemetryMs: 3_100 })).toMatchObject({ ageMs: 3_100, oldest: 'telemetry' })
  expect(at(10_300, { linkMs: 2_400 })).toMatchObject({ ageMs: 3_400, oldest: 'link' })
  expect(at(12_000, { pictureMs: 5_200 })).toMatchObject({ ageMs: 5_200, oldest: 'picture' })
  expect(at(12_500, { telemetryMs: 1_000 })).toMatchObject({ ageMs: 5_700, oldest: 'telemetry' })
  expect(at(12_600, {})).toMatchObject({ state: 'LIVE', ageMs: 90 })
  expect(at(14_000, { linkMs: 1_100 })).toMatchObject({ ageMs: 1_100, oldest: 'link' })
})

test('the known delay of a transport makes a page blind, and its age does not grow', () => {
  const track = createFreshnessTracker()
  const slow = { ...fresh, pictureMs: 4_030, pictureDelayMs: 4_000 }
  expect(track(slow, 10_000)).toMatchObject({ state: 'BLIND', ageMs: 4_030 })
  expect(track(slow, 20_000)).toMatchObject({ state: 'BLIND', ageMs: 4_030 })
})

test('before the first picture the page is connecting, for five seconds', () => {
  const awaited = { ...fresh, isPictureAwaited: true }
  for (const pictureMs of [30, 460, 4_999])
    expect(freshnessOf({ ...awaited, pictureMs })).toMatchObject({ state: 'CONNECTING', ageMs: 0 })
  expect(freshnessOf({ ...awaited, pictureMs: 5_000 })).toMatchObject({
    state: 'BLIND',
    oldest: 'firstPicture',
  })
  expect(freshnessOf({ ...awaited, pictureMs: 1_000, linkMs: 1_000 })).toMatchObject({ oldest: 'link' })
  const first = { pictureMs: undefined, telemetryMs: undefined, isLinkAwaited: true }
  expect(freshnessOf({ ...first, linkMs: 1_200 })).toMatchObject({ state: 'CONNECTING' })
  expect(freshnessOf({ ...first, linkMs: 5_000 })).toMatchObject({ state: 'BLIND', oldest: 'link' })
})

test('a camera that cannot be reached is not called frozen', () => {
  const lost = { ...fresh, pictureMs: 1_500, isCameraUnreachable: true }
  expect(freshnessOf(lost)).toMatchObject({ state: 'BLIND', oldest: 'camera' })
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
