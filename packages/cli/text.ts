import { styleText } from 'node:util'
import stringWidth from 'string-width'

export type Style = Parameters<typeof styleText>[0]

/** A piece of text with a style. It is escaped when it is written, as every other text is. */
export interface StyledText {
  readonly style: Style
  readonly text: string
}

export const styled = (style: Style, text: string): StyledText => ({ style, text })

/** What a line or a cell is made of. */
export type Piece = string | number | StyledText

/**
 * Control characters, and those that turn the direction of text or hide: names, notes and chat come from other
 * people, and must not move the cursor, change colours, or show a line as another one.
 */
const UNSAFE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Makes text of others harmless for a terminal: what could command it is shown as `\u001b`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (sign) => `\\u${(sign.codePointAt(0) as number).toString(16).padStart(4, '0')}`)
}

/** One line of it, for the terminal or without colours. */
export function renderPieces(pieces: readonly Piece[], coloured: boolean): string {
  return pieces
    .map((piece) => {
      if (typeof piece !== 'object') return escapeText(String(piece))
      const text = escapeText(piece.text)
      return coloured ? styleText(piece.style, text, { validateStream: false }) : text
    })
    .join('')
}

/** Columns that a piece takes on the screen. */
export function widthOf(piece: Piece): number {
  return stringWidth(escapeText(typeof piece === 'object' ? piece.text : String(piece)))
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The piece, escaped and cut to so many columns; what is cut ends in `…`. */
export function truncate(piece: Piece, columns: number): Piece {
  const text = escapeText(typeof piece === 'object' ? piece.text : String(piece))
  if (stringWidth(text) <= columns) return piece
  let kept = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return typeof piece === 'object' ? styled(piece.style, `${kept}…`) : `${kept}…`
}
