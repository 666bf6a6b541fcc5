import { type Piece, renderPieces, type StyledText, styled, truncate, widthOf } from './text.ts'

export interface Column<T> {
  readonly title: string
  readonly value: (row: T) => Piece | null | undefined
  /** Never cuts the values, which are useless when cut: ids, tokens, addresses. */
  readonly noTruncate?: boolean
  readonly right?: boolean
}

const GAP = 2
const MIN_COLUMN_WIDTH = 6

/** Returns the lines of a table, at most as wide as the terminal. With `columns` undefined, nothing is cut. */
export function table<T>(
  shape: readonly Column<T>[],
  rows: readonly T[],
  screen: { readonly columns: number | undefined; readonly coloured: boolean },
): string[] {
  const titles: StyledText[] = shape.map(({ title }) => styled('dim', title))
  const cells = rows.map((row) => shape.map(({ value }): Piece => value(row) ?? '-'))
  const all: Piece[][] = [titles, ...cells]
  const naturalWidths = shape.map((_, index) => Math.max(...all.map((line) => widthOf(line[index] as Piece))))
  const widths =
    screen.columns === undefined ? naturalWidths : shrinkColumns(shape, naturalWidths, screen.columns)
  return all.map((line) => {
    const pieces = line.flatMap((cell, index): Piece[] => {
      const width = widths[index] as number
      const piece = truncate(cell, width)
      const space = ' '.repeat(Math.max(0, width - widthOf(piece)))
      const gap = index === 0 ? '' : ' '.repeat(GAP)
      if (shape[index]?.right) return [gap, space, piece]
      return index === line.length - 1 ? [gap, piece] : [gap, piece, space]
    })
    return renderPieces(pieces, screen.coloured).trimEnd()
  })
}

/** Shrinks the widest column that may be cut, repeatedly, until the table fits. */
function shrinkColumns(
  shape: readonly Column<never>[],
  naturalWidths: readonly number[],
  columns: number,
): number[] {
  const widths = [...naturalWidths]
  const total = () => widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1))
  while (total() > columns) {
    const widest = widths.reduce(
      (best, width, index) =>
        !shape[index]?.noTruncate && width > MIN_COLUMN_WIDTH && width > (widths[best] ?? 0) ? index : best,
      -1,
    )
    if (widest < 0) break
    widths[widest] = (widths[widest] as number) - 1
  }
  return widths
}
