/** A table that a second module writes, with the reason why that is better than a call or an event. */
export interface WriterException {
  readonly table: string
  readonly writer: string
  readonly reason: string
}

export const writerExceptions: readonly WriterException[] = []

/** Helpers that receive the table as a parameter; their callers are checked by their own imports. */
export const dynamicTables: Readonly<Record<string, string>> = {}
