import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isKeyframe, MAX_PAYLOAD_BYTES, packetize, splitNalUnits } from './packetizer.ts'

const bytes = (...parts: (number | number[])[]) => Uint8Array.from(parts.flat())

describe('a VP8 frame', () => {
  test('is split into packets of which the first one is marked', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), (frame) => {
        const payloads = packetize('VP8', frame)
        expect(payloads.every(({ length }) => length <= MAX_PAYLOAD_BYTES)).toBe(true)
        expect(payloads.map(([descriptor]) => descriptor)).toEqual(
          payloads.map((_, index) => (index === 0 ? 0x10 : 0)),
        )
        expect(Buffer.concat(payloads.map((payload) => payload.subarray(1))).equals(Buffer.from(frame))).toBe(
          true,
        )
      }),
    )
  })

  test('is a keyframe by its lowest bit', () => {
    expect(isKeyframe('VP8', bytes(0x10))).toBe(true)
    expect(isKeyframe('VP8', bytes(0x11))).toBe(false)
  })
})

describe('an H.264 access unit', () => {
  test('is split at start codes of three and four bytes', () => {
    const frame = bytes([0, 0, 0, 1, 0x67, 1, 2], [0, 0, 1, 0x68, 3], [0, 0, 0, 1, 0x65, 4, 5])
    expect(splitNalUnits(frame).map((unit) => [...unit])).toEqual([
      [0x67, 1, 2],
      [0x68, 3],
      [0x65, 4, 5],
    ])
    expect(isKeyframe('H264', frame)).toBe(true)
    expect(isKeyframe('H264', bytes([0, 0, 1, 0x41, 9]))).toBe(false)
  })

  test('sends small units whole and large ones in fragments that rebuild them', () => {
    const unit = Uint8Array.from({ length: 4_000 }, (_, index) => (index === 0 ? 0x65 : 1 + (index % 200)))
    const payloads = packetize('H264', bytes([0, 0, 1, 0x67, 1], [0, 0, 1], [...unit]))
    expect([...(payloads[0] as Uint8Array)]).toEqual([0x67, 1])
    const fragments = payloads.slice(1)
    expect(fragments.map((payload) => (payload[1] as number) >> 6)).toEqual(
      fragments.map((_, index) => (index === 0 ? 2 : index === fragments.length - 1 ? 1 : 0)),
    )
    const first = fragments[0] as Uint8Array
    const head = ((first[0] as number) & 0xe0) | ((first[1] as number) & 0x1f)
    expect(
      Buffer.concat([bytes(head), ...fragments.map((payload) => payload.subarray(2))]).equals(
        Buffer.from(unit),
      ),
    ).toBe(true)
    expect(payloads.every(({ length }) => length <= MAX_PAYLOAD_BYTES)).toBe(true)
  })

  test('of any bytes makes no exception', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 3_000 }), (frame) => void packetize('H264', frame)))
  })
})
