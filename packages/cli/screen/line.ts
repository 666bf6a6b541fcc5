import { type Piece, truncate, widthOf } from '../text.ts'

/** Returns the part of a line that fits. */
export function truncateLine(pieces: readonly Piece[], columns: number): Piece[] {
  const kept: Piece[] = []
  let left = columns
  for (const piece of pieces) {
    const width = widthOf(piece)
    if (width > left) {
      if (left > 0) kept.push(truncate(piece, left))
      return kept
    }
    kept.push(piece)
    left -= width
  }
  return kept
}
