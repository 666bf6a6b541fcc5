import Table from 'cli-table3'
import { type Piece, renderPieces, styled, truncate, widthOf } from './text.ts'

export interface Column<T> {
  readonly title: string
  readonly value: (row: T) => Piece | null | undefined
  /** Never cuts the values, which are useless when cut: ids, tokens, addresses. */
  readonly noTruncate?: boolean
  readonly right?: boolean
}

const GAP = 2
const MIN_COLUMN_WIDTH = 6
const tops = ['top', 'top-left', 'top-mid', 'top-right']
const bottoms = ['bottom', 'bottom-left', 'bottom-mid', 'bottom-right']
/** No borders: only a gap between the columns. */
const chars = {
  ...Object.fromEntries([...tops, ...bottoms, 'left', 'right'].map((border) => [border, ''])),
  middle: ' '.repeat(GAP),
}

/** Returns the lines of a table, at most as wide as the terminal. With `columns` undefined, nothing is cut. */
export function table<T>(
  shape: readonly Column<T>[],
  rows: readonly T[],
  screen: { readonly columns: number | undefined; readonly coloured: boolean },
): string[] {
  const titles = shape.map(({ title }): Piece => styled('dim', title))
  const all = [titles, ...rows.map((row) => shape.map(({ value }): Piece => value(row) ?? '-'))]
  const naturalWidths = shape.map((_, index) => Math.max(...all.map((line) => widthOf(line[index] as Piece))))
  const colWidths =
    screen.columns === undefined ? naturalWidths : shrinkColumns(shape, naturalWidths, screen.columns)
  const colAligns = shape.map(({ right }) => (right ? 'right' : 'left'))
  // Draws each line as a table, because the time for one table grows with the square of its rows.
  return all.map((line) => {
    const drawn = new Table({
      chars,
      style: { 'padding-left': 0, 'padding-right': 0, border: [] },
      colWidths: [...colWidths],
      colAligns,
    })
    // Cuts the texts first, because cli-table3 cuts emoji in two and does not end every style.
    const cells = line.map((cell, index) => truncate(cell, colWidths[index] as number))
    drawn.push(cells.map((cell) => renderPieces([cell], screen.coloured)))
    return drawn.toString().trimEnd()
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
