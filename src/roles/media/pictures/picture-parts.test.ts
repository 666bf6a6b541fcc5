import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { MAX_PICTURE_BYTES, PictureParts } from './picture-parts.ts'

const TYPE = 'multipart/x-mixed-replace; boundary=frame'
const jpeg = (text: string) => Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.from(text)])

function partOf(picture: Buffer, { length = true, type = 'image/jpeg' } = {}): Buffer {
  const head = `--frame\r\nContent-Type: ${type}\r\n${length ? `Content-Length: ${picture.length}\r\n` : ''}\r\n`
  return Buffer.concat([Buffer.from(head), picture, Buffer.from('\r\n')])
}

/** Returns the pictures of a body that arrives in chunks of this size. */
function picturesOf(body: Buffer, { type = TYPE, chunkBytes = 1_000 } = {}): Buffer[] {
  const parts = PictureParts.of(type) as PictureParts
  const pictures: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkBytes)
    pictures.push(...parts.add(body.subarray(at, at + chunkBytes)))
  return pictures
}

describe('the pictures of an MJPEG stream', () => {
  const pictures = ['one one', 'two-two', 'th--ree'].map(jpeg)

  test.each([1, 7, 64, 10_000])(
    'are found with and without a length, in chunks of %i bytes',
    (chunkBytes) => {
      for (const length of [true, false]) {
        const body = Buffer.concat([
          ...pictures.map((picture) => partOf(picture, { length })),
          Buffer.from('--frame'),
        ])
        expect(picturesOf(body, { chunkBytes })).toEqual(pictures)
      }
    },
  )

  test.each(['"frame"', '--frame', 'frame; x=y'])('are found with the boundary %s', (boundary) => {
    const body = Buffer.concat(pictures.map((picture) => partOf(picture)))
    expect(picturesOf(body, { type: `multipart/x-mixed-replace;boundary=${boundary}` })).toEqual(pictures)
  })

  test('are only those of JPEG, and not too large', () => {
    const large = jpeg('x'.repeat(MAX_PICTURE_BYTES))
    for (const length of [true, false]) {
      const body = Buffer.concat([
        partOf(jpeg('first'), { length }),
        partOf(large, { length }),
        partOf(Buffer.from('<html>'), { length }),
        partOf(jpeg('of another type'), { length, type: 'image/png' }),
        partOf(jpeg('last'), { length }),
        Buffer.from('--frame'),
      ])
      expect(picturesOf(body, { chunkBytes: 60_000 })).toEqual([jpeg('first'), jpeg('last')])
    }
  })

  test.each(['image/jpeg', 'text/html', 'multipart/x-mixed-replace', 'multipart/form-data; boundary=x', ''])(
    'are not expected of the type %s',
    (type) => expect(PictureParts.of(type)).toBeUndefined(),
  )

  test('a head without an end is an error', () => {
    expect(() => picturesOf(Buffer.from(`--frame\r\n${'x'.repeat(20_000)}`))).toThrow('too long')
  })

  test.each([
    ['a body like the beginning of a boundary', `${'-'.repeat(60)}x`, '--'],
    ['a body without a boundary', 'frame', 'x'],
    ['heads without an end', 'frame', '--frame\r\n\r\n--frame'],
  ])('%s, byte by byte, is searched once', (_, boundary, content) => {
    const search = vi.spyOn(Buffer.prototype, 'indexOf')
    const body = Buffer.from(`--${boundary}\r\nContent-Type: image/jpeg\r\n\r\n${content.repeat(5_000)}`)
    picturesOf(body, { type: `multipart/x-mixed-replace; boundary=${boundary}`, chunkBytes: 1 })
    const searched = search.mock.contexts.reduce((sum, bytes) => sum + (bytes as Buffer).length, 0)
    expect(searched).toBeLessThan(body.length * 100)
  })

  test('any bytes use little memory, and throw nothing else', () => {
    const token = fc.constantFrom(
      '--frame',
      '\r\n',
      '\r\n\r\n',
      'Content-Length: 9',
      'Content-Type: image/jpeg',
      'x',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), (tokens) => {
        expect(() => picturesOf(Buffer.from(tokens.join('')), { chunkBytes: 5 })).not.toThrow()
      }),
    )
  })
})
