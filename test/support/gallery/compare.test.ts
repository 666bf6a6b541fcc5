import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { comparePictures, STRICT, WIDE } from './compare.ts'

type Color = readonly [red: number, green: number, blue: number]

const TEAL: Color = [9, 146, 104]
const WHITE: Color = [255, 255, 255]

/** Draws a badge of 60 by 20 pixels on white. */
function draw(options: { left?: number; color?: Color; width?: number; dots?: number } = {}): Buffer {
  const { left = 20, color = TEAL, width = 200, dots = 0 } = options
  const picture = new PNG({ width, height: 60 })
  for (let y = 0; y < 60; y++) {
    for (let x = 0; x < width; x++) {
      const isBadge = x >= left && x < left + 60 && y >= 20 && y < 40
      const isDot = y === 50 && x % 3 === 0 && x / 3 < dots
      const at = (y * width + x) * 4
      picture.data.set([...(isDot ? TEAL : isBadge ? color : WHITE), 255], at)
    }
  }
  return PNG.sync.write(picture)
}

const isEqual = (actual: Buffer, tolerance = STRICT) => comparePictures(draw(), actual, tolerance).isEqual

test('an equal picture passes, with single different pixels too', () => {
  expect(isEqual(draw())).toBe(true)
  expect(isEqual(draw({ dots: STRICT.pixels }))).toBe(true)
  expect(isEqual(draw({ dots: STRICT.pixels + 1 }))).toBe(false)
})

test('a moved badge, another shade and a small block of pixels fail', () => {
  expect(isEqual(draw({ left: 21 }))).toBe(false)
  expect(isEqual(draw({ color: [8, 127, 91] }))).toBe(false)
  expect(comparePictures(draw(), draw({ dots: 9 }), STRICT)).toMatchObject({
    isEqual: false,
    text: '9 pixels differ, 6 may',
    difference: expect.any(Buffer),
  })
})

test('another size fails', () => {
  expect(comparePictures(draw(), draw({ width: 201 }), STRICT)).toEqual({
    isEqual: false,
    text: '201 × 60 instead of 200 × 60 pixels',
    difference: undefined,
  })
})

test('the tolerance for another version of the browser still finds another colour and a badge elsewhere', () => {
  expect(isEqual(draw({ width: 201 }), WIDE)).toBe(true)
  expect(isEqual(draw({ dots: 30 }), WIDE)).toBe(true)
  expect(isEqual(draw({ left: 30 }), WIDE)).toBe(false)
  expect(isEqual(draw({ color: [201, 42, 42] }), WIDE)).toBe(false)
})
