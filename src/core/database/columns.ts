import { type EntitySchema, ReferenceKind, UnderscoreNamingStrategy } from '@mikro-orm/core'
import type { TablesOf } from './tables.ts'

type AnyEntity = EntitySchema & { readonly name: string }
type ColumnOf<Entity extends AnyEntity> = keyof TablesOf<Entity>[keyof TablesOf<Entity>] & string

const naming = new UnderscoreNamingStrategy()

/**
 * Returns the columns of the table of an entity, by name. A prepared query names them instead of `*`: once a
 * migration adds a column, PostgreSQL rejects a prepared `*` for the lifetime of the connection.
 */
export function columnsOf<Entity extends AnyEntity>(entity: Entity): ColumnOf<Entity>[] {
  const columns = Object.entries(entity.meta.properties).flatMap(([name, property]) => {
    const { persist, fieldName, kind } = property as {
      persist?: boolean
      fieldName?: string
      kind?: ReferenceKind
    }
    if (persist === false) return []
    if (fieldName) return [fieldName]
    return kind === ReferenceKind.MANY_TO_ONE
      ? [naming.joinKeyColumnName(name, 'id')]
      : [naming.propertyToColumnName(name)]
  })
  return columns as ColumnOf<Entity>[]
}
