import { type RawBuilder, sql } from 'kysely'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from '../../core/http/cursor.ts'

/** The order of all lists for admins: newest first, by id among rows of the same time. */
const ORDER = '-created_at'

/** A page of rows, and the cursor of the next page; undefined on the last one. */
export interface KeysetPage<Row> {
  readonly rows: Row[]
  readonly next: string | undefined
}

/** Returns the condition that a row of a table follows a cursor. @throws 400 for a cursor of another list. */
export function follows(table: string, cursor: string | undefined): RawBuilder<boolean> {
  if (cursor === undefined) return sql<boolean>`true`
  const { value, id } = decodeCursor(cursor, ORDER, cursorValues.time)
  return sql<boolean>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) < (${value}::timestamptz, ${id}::uuid)`
}

/** Returns the SQL that orders a table and limits it to a page and one row more. */
export const newestFirst = (table: string, limit: number): RawBuilder<unknown> =>
  sql`order by ${sql.ref(`${table}.created_at`)} desc, ${sql.ref(`${table}.id`)} desc limit ${limit + 1}`

/** Splits a page from rows that were read with one row more. */
export function toPage<Row extends { readonly id: string; readonly created_at: Date }>(
  read: readonly Row[],
  limit: number,
): KeysetPage<Row> {
  const { page, last } = pageOf(read, limit)
  return { rows: page, next: last && encodeCursor(ORDER, last.created_at, last.id) }
}
