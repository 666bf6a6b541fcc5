import { expect, test } from 'vitest'
import { isVideoKeyframe } from './video-keyframes.ts'

const units = (...types: number[]) =>
  new Uint8Array(types.flatMap((type) => [0, 0, 0, 1, 0x60 | type, 0x88, 0x80, 0x10]))

test.each([
  ['vp8', new Uint8Array([0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a]), true],
  ['vp8', new Uint8Array([0x11, 0x02, 0x00]), false],
  ['vp8', new Uint8Array(), false],
  ['h264', units(7, 8, 5), true],
  ['h264', units(9, 6, 5), true],
  ['h264', units(9, 1), false],
  ['h264', units(1, 5), false],
  ['h264', new Uint8Array([0, 0, 1]), false],
  ['h264', new Uint8Array([0, 0, 1, 0x65]), true],
  ['h265', units(5), false],
])('%s %j is a keyframe: %s', (format, data, expected) => {
  expect(isVideoKeyframe(format, data)).toBe(expected)
})
