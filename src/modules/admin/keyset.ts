import { type RawBuilder, sql } from 'kysely'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from '../../core/http/cursor.ts'

/** The order of all lists for admins: newest first, by id among rows of the same time. */
const ORDER = '-created_at'

/** A page of rows, and the cursor of the next page; undefined on the last one. */
export interface KeysetPage<Row> {
  readonly rows: Row[]
  readonly next: string | undefined
}

type Time = (timestamp: RawBuilder<unknown>) => RawBuilder<unknown>

const asStored: Time = (timestamp) => timestamp

/**
 * Returns the time by which the indexes of the whole platform are sorted. It has the same order as the timestamp. With the
 * timestamp itself, PostgreSQL would use these indexes for the lists of single users, too, and read the rows of others.
 */
export const platformTime: Time = (timestamp) => sql`(${timestamp} at time zone 'UTC')`

/**
 * Returns the SQL of a page of a table, newest first: the condition that its rows follow the cursor, and the order with a
 * limit of one row more than the page.
 * @throws 400 for a cursor of another list.
 */
export function keyset(
  table: string,
  { cursor, limit }: { cursor?: string | undefined; limit: number },
  time = asStored,
): { follows: RawBuilder<boolean>; end: RawBuilder<unknown> } {
  const [createdAt, id] = [time(sql.ref(`${table}.created_at`)), sql.ref(`${table}.id`)]
  const end = sql`order by ${createdAt} desc, ${id} desc limit ${limit + 1}`
  if (cursor === undefined) return { follows: sql<boolean>`true`, end }
  const last = decodeCursor(cursor, ORDER, cursorValues.time)
  const lastTime = time(sql`${last.value}::timestamptz`)
  return { follows: sql<boolean>`(${createdAt}, ${id}) < (${lastTime}, ${last.id}::uuid)`, end }
}

/** Splits a page from rows that were read with one row more. */
export function toPage<Row extends { readonly id: string; readonly created_at: Date }>(
  read: readonly Row[],
  limit: number,
): KeysetPage<Row> {
  const { page, last } = pageOf(read, limit)
  return { rows: page, next: last && encodeCursor(ORDER, last.created_at, last.id) }
}
