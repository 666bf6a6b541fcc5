import { expect, test } from 'vitest'
import { createPictureLatency } from './whep.ts'

test('a capture after the display is an error of the clock, which is added to all later times', () => {
  const latency = createPictureLatency()
  const shown = [undefined, 970, 1_020, 1_010, 970, 1_060].map((captureMs) => {
    latency.frame(1_000, captureMs)
    return latency.ms
  })
  expect(shown).toEqual([undefined, 30, 0, 10, 50, undefined])
})
