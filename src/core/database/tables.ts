import type { InferKyselyDB } from '@mikro-orm/sql'
import type { Kysely } from 'kysely'

/** The tables of these entities, by name, as the query builder types them. */
export type TablesOf<Entities extends { name: string }> = InferKyselyDB<Entities, Record<never, never>>

/**
 * Every table of the platform, by name. The file of an entity adds its own table by declaration merging, so that a
 * query can join tables of several modules without an import between them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the entity files add the members
export interface Tables {}

/** The query builder over the ORM's connections, typed from the entities. */
export type Db = Kysely<Tables>
