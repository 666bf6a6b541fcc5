import type { WriteStream } from 'node:tty'
import { type Column, table } from './table.ts'
import { type Piece, renderPieces, styled, widthOf } from './text.ts'

/** Where the program writes: a terminal, a pipe or a file. */
export type Stream = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

export interface OutputOptions {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly json: boolean
  readonly quiet: boolean
  /** From NO_COLOR, FORCE_COLOR and `--no-color`; undefined: colours where a terminal is. */
  readonly coloured?: boolean | undefined
}

export type Output = ReturnType<typeof createOutput>

/**
 * What the program says: results on standard output, everything else on standard error, so that a pipe gets results
 * alone. All text is escaped on its way to people; JSON carries it as it is.
 */
export function createOutput({ stdout, stderr, json, coloured, ...options }: OutputOptions) {
  // Programs that read JSON want errors alone on standard error, and what a person must do.
  const quiet = options.quiet || json
  const outColoured = coloured ?? stdout.isTTY === true
  const errColoured = coloured ?? stderr.isTTY === true
  const screen = () => ({ columns: stdout.isTTY ? stdout.columns : undefined, coloured: outColoured })
  const line = (...pieces: Piece[]) => void stdout.write(`${renderPieces(pieces, outColoured)}\n`)

  return {
    json,
    quiet,
    /** A person looks at the results. */
    terminal: stdout.isTTY === true,
    coloured: outColoured,
    /** Width of the terminal in columns; undefined where there is none. It changes. */
    columns: () => screen().columns,

    /** A line of results for people. */
    line,
    /** A line about what happens, on standard error; not with `--quiet` or `--json`. */
    note(...pieces: Piece[]): void {
      if (!quiet) stderr.write(`${renderPieces(pieces, errColoured)}\n`)
    },
    /** A line on standard error that nothing hides: a question, an address to open. */
    notice(...pieces: Piece[]): void {
      stderr.write(`${renderPieces(pieces, errColoured)}\n`)
    },
    /** Written as it is, for screens that draw themselves. Whatever comes from others must be `escaped` before. */
    raw: (text: string): boolean => stdout.write(text),

    /** One JSON document. */
    document: (value: unknown): void => void stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    /** One of a row of JSON documents, each on a line (JSON Lines), for what goes on and on. */
    entry: (value: unknown): void => void stdout.write(`${JSON.stringify(value)}\n`),

    /** A result: as JSON with `--json`, else as `people` shows it. */
    result(value: unknown, printText: () => void): void {
      if (json) this.document(value)
      else printText()
    },
    /** A list: JSON array with `--json`, else a table; `none` is said where there is nothing. */
    list<T>(rows: readonly T[], columns: readonly Column<T>[], none: string): void {
      if (json) this.document(rows)
      else if (rows.length === 0) this.note(none)
      else this.table(rows, columns)
    },
    table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
      for (const text of table(columns, rows, screen())) stdout.write(`${text}\n`)
    },
    /** Names and values, one under the other; what is undefined is left out. */
    record(pairs: readonly (readonly [name: string, value: Piece | null | undefined])[]): void {
      const shown = pairs.filter(([, value]) => value !== undefined)
      const width = Math.max(...shown.map(([name]) => widthOf(name)))
      for (const [name, value] of shown) line(styled('dim', name.padEnd(width + 2)), value ?? '-')
    },
  }
}
