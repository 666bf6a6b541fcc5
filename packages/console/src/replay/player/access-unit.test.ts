import { expect, test } from 'vitest'
import { codecOf, isKeyframe } from './camera-player.ts'

const sps = [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f, 9]
const pps = [0, 0, 0, 1, 0x68, 1, 2]
const idr = [0, 0, 1, 0x65, 1, 2, 3]
const slice = [0, 0, 0, 1, 0x41, 1, 2, 3]
const bytes = (...parts: number[][]) => Uint8Array.from(parts.flat())

test('knows the keyframes of VP8', () => {
  expect(isKeyframe('vp8', Uint8Array.of(0x10, 2))).toBe(true)
  expect(isKeyframe('vp8', Uint8Array.of(0x11, 2))).toBe(false)
  expect(isKeyframe('vp8', new Uint8Array())).toBe(false)
  expect(codecOf('vp8', Uint8Array.of(0x10))).toBe('vp8')
})

test('knows the keyframes of H.264 and their codec', () => {
  expect(isKeyframe('h264', bytes(sps, pps, idr))).toBe(true)
  expect(isKeyframe('h264', bytes(slice))).toBe(false)
  expect(isKeyframe('h264', bytes(slice, idr))).toBe(false)
  expect(codecOf('h264', bytes(sps, pps, idr))).toBe('avc1.42c01f')
  expect(codecOf('h264', bytes(idr))).toBeUndefined()
})

test('each picture is complete', () => {
  expect(isKeyframe('jpeg', Uint8Array.of(0xff))).toBe(true)
  expect(codecOf('jpeg', Uint8Array.of(0xff))).toBeUndefined()
})
