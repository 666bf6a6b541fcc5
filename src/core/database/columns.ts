import type { Tables } from '../../app/database/orm.ts'
import { knownColumns } from './known-columns.ts'

/**
 * Every column of a table that this code knows, by name: what a prepared query asks for instead of `*`, which
 * PostgreSQL refuses for ever once a migration adds a column under a running process.
 */
export function columnsOf<T extends keyof Tables & string>(table: T): (keyof Tables[T] & string)[] {
  const columns = knownColumns.get(table)
  if (!columns) throw new Error(`no entity has the table ${table}`)
  return columns as (keyof Tables[T] & string)[]
}
