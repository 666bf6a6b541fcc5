import type { MetadataStorage } from '@mikro-orm/core'

/** Table → its columns. Apart from columns.ts, because that knows the types of the tables, which the ORM makes. */
export const knownColumns = new Map<string, string[]>()

/** Takes the names from the ORM, once it has read the entities. */
export function learnColumns(metadata: MetadataStorage): void {
  for (const { tableName, props } of metadata) {
    const stored = props.filter((prop) => prop.persist !== false)
    knownColumns.set(
      tableName,
      stored.flatMap((prop) => prop.fieldNames ?? []),
    )
  }
}
