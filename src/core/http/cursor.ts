import { z } from 'zod'
import { badRequest } from '../errors/errors.ts'

/** Longest cursor, in characters. */
const MAX_CURSOR = 1_000

/** The schema of a cursor in a query string. */
export const queryCursor = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_CURSOR)
  .meta({
    description:
      'The X-Next-Cursor of the previous page: returns the entries after it. Send the same filters and sort with it.',
    examples: [
      'WyItY3JlYXRlZF9hdCIsIjIwMjYtMTEtMjBUMDk6MzA6MDAuMDAwWiIsIjViMWY5YTg2LTJmMGMtNGMwZS05ZDVmLTNmMWY2ZjNhN2YxMCJd',
    ],
  })

/** The schemas of the values that a list can be sorted by, safe to pass to PostgreSQL. */
export const cursorValues = {
  time: z.iso.datetime().refine((text) => Date.parse(text) >= 0),
  count: z.number().int().min(0).max(2_147_483_647),
  text: z.string().refine((text) => text.isWellFormed() && !text.includes('\0')),
}

/** Returns the cursor after a row of a list that is sorted by `sort`, and by id among rows with the same value. */
export function encodeCursor(sort: string, value: Date | string | number, id: string): string {
  const sorted = value instanceof Date ? value.toISOString() : value
  return Buffer.from(JSON.stringify([sort, sorted, id])).toString('base64url')
}

/**
 * Returns the value and the id of the row before the requested page.
 * @throws 400 for a cursor of another list or of another order.
 */
export function decodeCursor<V>(cursor: string, sort: string, value: z.ZodType<V>): { value: V; id: string } {
  const position = z.tuple([z.literal(sort), value, z.guid()]).safeParse(jsonIn(cursor))
  if (!position.success)
    throw badRequest(
      'cursor: must be the X-Next-Cursor of this list in the same order. Omit it to start again.',
    )
  return { value: position.data[1] as V, id: position.data[2] }
}

function jsonIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** Splits rows that were read with one row more than the page has. Returns the page, and its last row if more follow. */
export function pageOf<Row>(rows: readonly Row[], limit: number): { page: Row[]; last: Row | undefined } {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}
