import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { beginsKeyframe, keyframePixels, ParameterSetCheck } from './keyframes.ts'

const payload = (...bytes: number[]) => Buffer.from(bytes)

describe('VP8', () => {
  test.each([
    ['a keyframe', payload(0x10, 0x10), true],
    ['another frame', payload(0x10, 0x11), false],
    ['a continuation', payload(0x00, 0x10), false],
    ['a second partition', payload(0x11, 0x10), false],
    ['a keyframe with a picture id of one byte', payload(0x90, 0x80, 0x05, 0x10), true],
    ['a keyframe with a picture id of two bytes', payload(0x90, 0x80, 0x85, 0x01, 0x10), true],
    ['a keyframe with all extensions', payload(0x90, 0xf0, 0x05, 0x01, 0x20, 0x10), true],
    ['a descriptor without a frame', payload(0x90, 0x80, 0x05), false],
    ['nothing', payload(), false],
  ])('%s', (_what, packet, expected) => expect(beginsKeyframe('VP8', packet)).toBe(expected))
})

describe('the pixels of a keyframe', () => {
  const size = [0x80, 0x42, 0xe0, 0x01] // 640 with a scale, 480
  test.each([
    ['of VP8', 'VP8', payload(0x10, 0x10, 0, 0, 0x9d, 0x01, 0x2a, ...size), 640 * 480],
    [
      'after a picture id',
      'VP8',
      payload(0x90, 0x80, 0x05, 0x10, 0, 0, 0x9d, 0x01, 0x2a, ...size),
      640 * 480,
    ],
    ['without a start code', 'VP8', payload(0x10, 0x10, 0, 0, 0x9d, 0x01, 0x2b, ...size), undefined],
    ['of another frame', 'VP8', payload(0x10, 0x11, 0, 0, 0x9d, 0x01, 0x2a, ...size), undefined],
    ['of H.264', 'H264', payload(0x67, 1), undefined],
  ] as const)('%s', (_what, codec, packet, pixels) => expect(keyframePixels(codec, packet)).toBe(pixels))
})

describe('H.264', () => {
  test.each([
    ['an IDR slice', payload(0x65, 1), true],
    ['sequence parameters', payload(0x67, 1), true],
    ['another slice', payload(0x41, 1), false],
    ['the first fragment of an IDR slice', payload(0x7c, 0x85, 1), true],
    ['a later fragment of it', payload(0x7c, 0x05, 1), false],
    ['an aggregate with sequence parameters', payload(0x78, 0, 1, 0x67, 0, 1, 0x68), true],
    ['an aggregate without', payload(0x78, 0, 1, 0x41, 0, 1, 0x06), false],
    ['an aggregate with a wrong length', payload(0x78, 0xff, 0xff, 0x41), false],
    ['nothing', payload(), false],
  ])('%s', (_what, packet, expected) => expect(beginsKeyframe('H264', packet)).toBe(expected))
})

test('any bytes are read without an exception', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('VP8' as const, 'H264' as const),
      (bytes, codec) => {
        beginsKeyframe(codec, Buffer.from(bytes))
      },
    ),
  )
})

describe('the parameter sets of H.264', () => {
  const [idr, fragment, sequence, picture] = [
    payload(0x65, 1),
    payload(0x7c, 0x85),
    payload(0x67, 1),
    payload(0x68, 1),
  ]
  const both = payload(0x78, 0, 2, 0x67, 1, 0, 2, 0x68, 1)
  test.each([
    ['no keyframe', [payload(0x41, 1), payload(0x41, 1), payload(0x41, 1)], false],
    ['one keyframe without sets', [idr], false],
    ['two keyframes without sets', [idr, idr], true],
    ['two keyframes of fragments without sets', [fragment, fragment], true],
    ['a sequence without a picture', [sequence, idr, idr], true],
    ['both, each in a packet', [sequence, picture, idr, idr], false],
    ['both in one packet', [both, idr, idr], false],
    ['both after two keyframes without', [idr, idr, both], false],
  ])('%s', (_what, packets, isMissing) => {
    const check = new ParameterSetCheck()
    for (const [timestamp, packet] of packets.entries()) check.add(packet, timestamp)
    expect(check.problem).toEqual(isMissing ? expect.stringContaining('SPS and PPS') : undefined)
  })

  test('slices of one keyframe count once', () => {
    const check = new ParameterSetCheck()
    for (let slice = 0; slice < 4; slice++) check.add(idr, 0)
    expect(check.problem).toBeUndefined()
  })
})
