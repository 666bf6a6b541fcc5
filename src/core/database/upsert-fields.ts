import type { EntityData, EntityName, UpsertOptions } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'

/**
 * Changes the named fields of a record. The first change creates the record, even one without fields.
 * @param record.key the unique fields that identify the record
 * @param record.initial fields that only the creation sets
 */
export async function upsertFields<Entity extends object>(
  em: EntityManager,
  entity: EntityName<Entity>,
  record: { key: EntityData<Entity>; fields: EntityData<Entity>; initial: EntityData<Entity> },
): Promise<void> {
  const { key, fields, initial } = record
  const options: UpsertOptions<Entity, string> = {
    onConflictFields: Object.keys(key) as (keyof Entity)[],
    onConflictMergeFields: Object.keys(fields) as never[], // their type is not computed for a type parameter
  }
  await em.upsert(entity, { ...key, ...fields, ...initial }, options)
}
