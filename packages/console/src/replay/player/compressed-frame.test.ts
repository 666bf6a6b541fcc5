import { expect, test } from 'vitest'
import { encodeFrame } from '../../../../../src/modules/recordings/mcap/compressed-frame.ts'
import { decodeFrame } from './camera-player.ts'

const frame = {
  stampNs: 1_795_500_000_123_456_789n,
  frameId: 'front',
  format: 'vp8',
  data: new Uint8Array(1_000).map((_, index) => index),
}

test('reads what the platform writes', () => {
  const video = decodeFrame('foxglove.CompressedVideo', encodeFrame('CompressedVideo', frame))
  expect(video.format).toBe('vp8')
  expect([...video.data]).toEqual([...frame.data])
  const picture = encodeFrame('CompressedImage', { ...frame, format: 'jpeg' })
  const image = decodeFrame('foxglove.CompressedImage', picture)
  expect(image.format).toBe('jpeg')
  expect([...image.data]).toEqual([...frame.data])
})

test('skips fields of other types', () => {
  const bytes = [0x08, 0x96, 0x01, 0x29, 1, 2, 3, 4, 5, 6, 7, 8, 0x35, 1, 2, 3, 4, 0x1a, 2, 7, 9]
  expect(decodeFrame('foxglove.CompressedVideo', Uint8Array.from(bytes)).data).toEqual(Uint8Array.of(7, 9))
})

test('rejects a message that is cut off, and garbage', () => {
  const message = encodeFrame('CompressedVideo', frame)
  expect(() => decodeFrame('foxglove.CompressedVideo', message.subarray(0, 500))).toThrow(RangeError)
  expect(() => decodeFrame('foxglove.CompressedVideo', new Uint8Array(20).fill(0xff))).toThrow(RangeError)
  expect(() => decodeFrame('foxglove.CompressedVideo', Uint8Array.of(0x0b))).toThrow('wire type')
})
