import type { MetadataStorage } from '@mikro-orm/core'
import type { Tables } from './orm.ts'

const known = new Map<string, string[]>()

/** Takes the names from the ORM, once it has read the entities. */
export function learnColumns(metadata: MetadataStorage): void {
  for (const { tableName, props } of metadata) {
    const stored = props.filter((prop) => prop.persist !== false)
    known.set(
      tableName,
      stored.flatMap((prop) => prop.fieldNames ?? []),
    )
  }
}

/**
 * Every column of a table that this code knows, by name: what a prepared query asks for instead of `*`, which
 * PostgreSQL refuses for ever once a migration adds a column under a running process.
 */
export function columnsOf<T extends keyof Tables & string>(table: T): (keyof Tables[T] & string)[] {
  const columns = known.get(table)
  if (!columns) throw new Error(`no entity has the table ${table}`)
  return columns as (keyof Tables[T] & string)[]
}
