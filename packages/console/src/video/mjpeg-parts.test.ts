import { describe, expect, test } from 'vitest'
import { MjpegParts } from './mjpeg-parts.ts'

const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
const textOf = (part: Uint8Array | undefined) => part && String.fromCharCode(...part).trim()
const TYPE = 'multipart/x-mixed-replace; boundary='

/** Returns the parts that a body has when it arrives in chunks of this size. */
function partsOf(body: string, { type = `${TYPE}frame`, chunkBytes = 1 } = {}): (string | undefined)[] {
  const reader = new MjpegParts(type)
  const parts: (string | undefined)[] = []
  for (let at = 0; at < body.length; at += chunkBytes) {
    const part = reader.add(bytes(body.slice(at, at + chunkBytes)))
    if (part) parts.push(textOf(part))
  }
  return parts
}

const withLengths = ['one', 'two', 'three']
  .map((part) => `--frame\r\nContent-Type: image/jpeg\r\nContent-Length: ${part.length}\r\n\r\n${part}\r\n`)
  .join('')
const withoutLengths = ['one', 'tw-o', 'th--ree']
  .map((part) => `--frame\r\nContent-Type: image/jpeg\r\n\r\n${part}\r\n`)
  .join('')

describe('the parts of an MJPEG stream', () => {
  test.each([1, 7, 64])('are found by their length, in chunks of %i bytes', (chunkBytes) => {
    expect(partsOf(withLengths, { chunkBytes }).at(-1)).toBe('three')
  })

  test.each([
    ['frame', 'frame'],
    ['"frame"', 'quoted'],
    ['--frame', 'declared with its dashes'],
  ])('are found by the boundary %s (%s) without a length', (boundary) => {
    expect(partsOf(`${withoutLengths}--frame`, { type: TYPE + boundary })).toEqual(['one', 'tw-o', 'th--ree'])
  })

  test('that arrive together are skipped, except the newest one', () => {
    expect(partsOf(withLengths, { chunkBytes: 1_000 })).toEqual(['three'])
  })

  test('without length and boundary, or without an end, are an error', () => {
    expect(() => partsOf(withoutLengths, { type: 'multipart/x-mixed-replace' })).toThrow('neither')
    const endless = new MjpegParts(`${TYPE}frame`)
    endless.add(bytes('--frame\r\n\r\n'))
    expect(() => endless.add(new Uint8Array(9_000_000))).toThrow('no frame')
  })
})
