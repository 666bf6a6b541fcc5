import { GLYPH_COLUMNS, GLYPH_ROWS, glyphOf } from './font.ts'
import { colour } from './renderer.ts'

const LONGEST_NAME = 14
const PLATE = colour(14, 18, 24)
const INK = colour(255, 255, 255)

/**
 * Draws a robot's name and the time on a dark plate, into the upper left corner: at most 32 by 12 % of the picture. The time has tenths of a
 * second: next to a clock, it shows the delay of the picture.
 */
export function drawStamp(pixels: Int32Array, width: number, name: string, at: Date): void {
  const dot = Math.max(1, Math.round(width / 640))
  const text = `${name.slice(0, LONGEST_NAME)} ${at.toISOString().slice(11, 21)} UTC`
  const fill = (x: number, y: number, columns: number, rows: number, ink: number) => {
    for (let row = (y + 2) * dot; row < (y + rows + 2) * dot; row++)
      pixels.fill(ink, row * width + (x + 2) * dot, row * width + (x + columns + 2) * dot)
  }
  fill(0, 0, text.length * (GLYPH_COLUMNS + 1) + 5, GLYPH_ROWS + 6, PLATE)
  for (const [index, letter] of [...text].entries()) {
    for (const [row, bits] of glyphOf(letter).entries()) {
      for (let column = 0; column < GLYPH_COLUMNS; column++) {
        if ((bits & (1 << (GLYPH_COLUMNS - 1 - column))) !== 0)
          fill(3 + index * (GLYPH_COLUMNS + 1) + column, 3 + row, 1, 1, INK)
      }
    }
  }
}
