import { GLYPH_COLUMNS, GLYPH_ROWS, glyphOf } from './font.ts'

/** A colour as in memory: one 32-bit number, bytes in the order red, green, blue, opaque. */
export type Colour = number

/** The part of the picture that a shape covers, in pixels. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Returns a colour of red, green and blue, 0 to 255 each. */
export function colour(red: number, green: number, blue: number): Colour {
  return LITTLE_ENDIAN
    ? (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0
    : ((red << 24) | (green << 16) | (blue << 8) | 0xff) >>> 0
}

/** Pixels in memory, drawn by the main thread; plain loops, because they run ten times a second. */
export class Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Uint32Array<ArrayBuffer>

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Uint32Array(width * height)
  }

  /** Fills a rectangle, clipped to the picture. */
  fill({ x, y, width, height }: Box, ink: Colour): void {
    const [left, right] = [Math.max(0, Math.round(x)), Math.min(this.width, Math.round(x + width))]
    const [top, bottom] = [Math.max(0, Math.round(y)), Math.min(this.height, Math.round(y + height))]
    for (let row = top; row < bottom && left < right; row++) {
      this.pixels.fill(ink, row * this.width + left, row * this.width + right)
    }
  }

  /** Draws a filled disc. */
  disc(x: number, y: number, radius: number, ink: Colour): void {
    for (let row = Math.ceil(y - radius); row <= y + radius; row++) {
      const half = Math.sqrt(Math.max(0, radius * radius - (row - y) ** 2))
      this.fill({ x: x - half, y: row, width: 2 * half, height: 1 }, ink)
    }
  }

  /** Draws a line of dots of `thickness` pixels. */
  line(from: readonly [number, number], to: readonly [number, number], thickness: number, ink: Colour): void {
    const steps = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1])))
    for (let step = 0; step <= steps; step++) {
      const x = from[0] + ((to[0] - from[0]) * step) / steps
      const y = from[1] + ((to[1] - from[1]) * step) / steps
      this.fill({ x: x - thickness / 2, y: y - thickness / 2, width: thickness, height: thickness }, ink)
    }
  }

  /** Draws one line of text, each dot of its letters `scale` pixels wide. */
  text(text: string, x: number, y: number, scale: number, ink: Colour): void {
    let left = x
    for (const letter of text) {
      for (const [row, bits] of glyphOf(letter).entries()) {
        for (let column = 0; column < GLYPH_COLUMNS; column++) {
          if ((bits & (1 << (GLYPH_COLUMNS - 1 - column))) === 0) continue
          this.fill({ x: left + column * scale, y: y + row * scale, width: scale, height: scale }, ink)
        }
      }
      left += (GLYPH_COLUMNS + 1) * scale
    }
  }
}

/** Returns width and height of a text in pixels. */
export function textSize(text: string, scale: number): { width: number; height: number } {
  const letters = [...text].length
  return { width: Math.max(0, letters * (GLYPH_COLUMNS + 1) - 1) * scale, height: GLYPH_ROWS * scale }
}
