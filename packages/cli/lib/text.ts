import { styleText } from 'node:util'
import stringWidth from 'string-width'

export type Style = Parameters<typeof styleText>[0]

/** A piece of text with a style. The output escapes it, like all text. */
interface StyledText {
  readonly style: Style
  readonly text: string
}

export const styled = (style: Style, text: string): StyledText => ({ style, text })

/** Part of a line or of a table cell. */
export type Piece = string | number | StyledText

/**
 * Control characters, bidirectional controls and invisible characters. Names, notes and chat are written by other
 * users and must not move the cursor, change colours, or disguise a line.
 */
const UNSAFE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Escapes text for a terminal: a control character becomes `\u001b`. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (sign) => `\\u${(sign.codePointAt(0) as number).toString(16).padStart(4, '0')}`)
}

/** Returns the pieces as one line, with or without colours. */
export function renderPieces(pieces: readonly Piece[], coloured: boolean): string {
  return pieces
    .map((piece) => {
      if (typeof piece !== 'object') return escapeText(String(piece))
      const text = escapeText(piece.text)
      return coloured ? styleText(piece.style, text, { validateStream: false }) : text
    })
    .join('')
}

/** Returns the width of a piece in columns. */
export function widthOf(piece: Piece): number {
  return stringWidth(escapeText(typeof piece === 'object' ? piece.text : String(piece)))
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Returns the piece, escaped and cut to a number of columns. A cut piece ends with `…`. */
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
