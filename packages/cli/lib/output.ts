import type { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import Table from 'cli-table3'
import { type Piece, renderPieces, styled, truncate, widthOf } from './text.ts'

/** An output stream: a terminal, a pipe or a file. */
export type Stream = Writable & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

interface OutputOptions {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly json: boolean
  readonly quiet: boolean
  /** From NO_COLOR, FORCE_COLOR and `--no-color`. Undefined: colours on a terminal. */
  readonly coloured?: boolean | undefined
}

export type Output = ReturnType<typeof createOutput>

/**
 * Creates the output of the program: results on standard output, everything else on standard error, so that a pipe
 * gets only results. Escapes all text except JSON.
 */
export function createOutput({ stdout, stderr, json, coloured, ...options }: OutputOptions) {
  // With --json, standard error contains only errors and notices.
  const quiet = options.quiet || json
  const outColoured = coloured ?? stdout.isTTY === true
  const errColoured = coloured ?? stderr.isTTY === true
  const screen = () => ({ columns: stdout.isTTY ? stdout.columns : undefined, coloured: outColoured })
  const line = (...pieces: Piece[]) => void stdout.write(`${renderPieces(pieces, outColoured)}\n`)

  return {
    json,
    quiet,
    /** Whether standard output is a terminal. */
    terminal: stdout.isTTY === true,
    coloured: outColoured,
    /** Returns the current width of the terminal in columns; undefined without a terminal. */
    columns: () => screen().columns,

    /** Writes a line of text results. */
    line,
    /** Writes a status line on standard error, unless `--quiet` or `--json` is set. */
    note(...pieces: Piece[]): void {
      if (!quiet) stderr.write(`${renderPieces(pieces, errColoured)}\n`)
    },
    /** Writes a line on standard error even with `--quiet` and `--json`: a question, an address to open. */
    notice(...pieces: Piece[]): void {
      stderr.write(`${renderPieces(pieces, errColoured)}\n`)
    },
    /** Writes text unchanged, for full-screen views. Use `escapeText` on text from the platform first. */
    raw: (text: string): boolean => stdout.write(text),

    /** Writes one JSON document. */
    document: (value: unknown): void => void stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    /** Writes one line of JSON Lines, for continuous output. */
    entry: (value: unknown): void => void stdout.write(`${JSON.stringify(value)}\n`),

    /** Writes a result: as JSON with `--json`, else with `printText`. */
    result(value: unknown, printText: () => void): void {
      if (json) this.document(value)
      else printText()
    },
    /** Writes a list: a JSON array with `--json`, else a table, or the note `emptyText` for an empty list. */
    list<T>(rows: readonly T[], columns: readonly Column<T>[], emptyText: string): void {
      if (json) this.document(rows)
      else if (rows.length === 0) this.note(emptyText)
      else this.table(rows, columns)
    },
    table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
      for (const text of table(columns, rows, screen())) stdout.write(`${text}\n`)
    },
    /** Writes names and values, one pair per line. Omits undefined values. */
    record(pairs: readonly (readonly [name: string, value: Piece | null | undefined])[]): void {
      const shown = pairs.filter(([, value]) => value !== undefined)
      const width = Math.max(...shown.map(([name]) => widthOf(name)))
      for (const [name, value] of shown) line(styled('dim', name.padEnd(width + 2)), value ?? '-')
    },
  }
}

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
function table<T>(
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
