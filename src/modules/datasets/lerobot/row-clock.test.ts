import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CameraScan } from './episode-scan.ts'
import { evenRows, followingRun, leadingRun as leadingRunOf, shownFrames } from './row-clock.ts'
import { rowPosition } from './transcoder.ts'

const scan = (times: readonly number[], keys: readonly number[] = [0]): CameraScan => ({
  name: 'front',
  format: 'vp8',
  times: Float64Array.from(times),
  keys: Uint8Array.from(times, (_, index) => (keys.includes(index) ? 1 : 0)),
  size: { width: 160, height: 120 },
  hasOneSize: true,
})
/** Returns the rows of an episode that ends with the last frame. */
const leadingRun = (camera: CameraScan, fromMs: number, fps: number) =>
  leadingRunOf(camera, { fromMs, endMs: camera.times.at(-1) ?? 0 }, fps)
const every = (ms: number, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => from + index * ms)

test('the frames of a camera at the rate of the dataset are its rows, from the keyframe before on', () => {
  expect(leadingRun(scan(every(33.3, 100, -500), [10]), 0, 30)).toEqual({ fromKey: 10, first: 16, count: 84 })
  // Without a keyframe before the start, the first one after it begins.
  expect(leadingRun(scan(every(33.3, 100, -500), [40]), 0, 30)).toEqual({ fromKey: 40, first: 40, count: 60 })
})

test('a camera with another rate, or with a pause, cannot lead', () => {
  expect(leadingRun(scan(every(31.8, 100)), 0, 30)).toBeDefined()
  expect(leadingRun(scan(every(31.5, 100)), 0, 30)).toBeUndefined()
  expect(leadingRun(scan(every(35.2, 100)), 0, 30)).toBeUndefined()
  const paused = (ms: number) => scan([...every(33.3, 50), ...every(33.3, 50, 49 * 33.3 + ms)])
  expect(leadingRun(paused(99), 0, 30)).toBeDefined()
  expect(leadingRun(paused(101), 0, 30)).toBeUndefined()
  expect(leadingRun(scan(every(33.3, 100), []), 0, 30)).toBeUndefined()
  expect(leadingRun(scan([]), 0, 30)).toBeUndefined()
})

test('a camera that ends before the episode is encoded again, so that the episode keeps its end', () => {
  const ended = (endMs: number) => leadingRunOf(scan(every(33.3, 100)), { fromMs: 0, endMs }, 30)
  expect(ended(3_390)).toBeDefined()
  expect(ended(3_400)).toBeUndefined()
})

test('a second camera follows if each of its frames is near its row', () => {
  const rows = Float64Array.from(every(33.3, 100))
  expect(followingRun(scan(every(33.3, 120, -200), [2]), rows, 30)).toEqual({
    fromKey: 2,
    first: 6,
    count: 100,
  })
  expect(followingRun(scan(every(33.9, 120, -200), [2]), rows, 30)).toBeUndefined()
  expect(followingRun(scan(every(33.3, 90), [0]), rows, 30)).toBeUndefined()
  expect(followingRun(scan(every(33.3, 120, 100), [0]), rows, 30)).toBeUndefined()
})

test('there are as many even rows as fit', () => {
  expect([...evenRows(0, 1_000, 4)]).toEqual([0, 250, 500, 750])
  expect(evenRows(0, 999, 4)).toHaveLength(3)
  expect(evenRows(2_000, 1_000, 4)).toHaveLength(0)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 100_000 }), (fps, frames) => {
      expect(evenRows(0, (frames * 1_000) / fps, fps)).toHaveLength(frames)
    }),
  )
})

test('the encoder shows at each row the frame that is shown at its time', () => {
  const times = fc
    .uniqueArray(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 50 })
    .map((list) => list.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(times, times, (frameTimes, rows) => {
      const rowTimes = Float64Array.from(rows)
      const shown = shownFrames(Float64Array.from(frameTimes), rowTimes)
      const positions = frameTimes.map((ms) => rowPosition(rowTimes, ms, 30))
      for (const [row, frame] of shown.entries())
        expect(positions.findLastIndex((position) => position <= row)).toBe(frame)
    }),
  )
})
