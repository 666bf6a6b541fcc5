import { readdirSync } from 'node:fs'
import { type EntityMetadata, EntitySchema, MetadataProvider } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { defineConfig, type EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { type Client, type Pool, type PoolClient, type TypeOverrides, types } from 'pg'
import { waitUntil } from '../../core/concurrency/concurrency.ts'
import { PreparingClient } from '../../core/database/prepared.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { migrations } from './migrations/index.ts'

const SOURCES = new URL('../../', import.meta.url)

/** Loads the entities: everything that a file `*.entity.ts` exports with `defineEntity`. */
async function loadEntities(): Promise<EntitySchema[]> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.entity.ts'),
  )
  const modules: Record<string, unknown>[] = await Promise.all(
    files.sort().map((file) => import(new URL(file, SOURCES).href)),
  )
  return modules.flatMap((exports) => Object.values(exports)).filter((value) => value instanceof EntitySchema)
}

/** A database that stops responding must not block requests indefinitely. */
const QUERY_LIMIT_MS = 10_000
/** A process that freezes in a transaction must not block a remote stop of the robot indefinitely. */
const FROZEN_LIMIT_MS = 5_000

export type Orm = Awaited<ReturnType<typeof connectOrm>>

const entities = await loadEntities()
const entityByName = new Map(entities.map((entity) => [entity.meta.className, entity]))

/** Resolves the target names of `referenceTo`. */
class NamedReferences extends MetadataProvider {
  override loadEntityMetadata(meta: EntityMetadata): void {
    for (const property of meta.props) {
      const name: unknown = typeof property.entity === 'function' ? property.entity() : undefined
      if (typeof name !== 'string') continue
      const target = entityByName.get(name)
      if (!target)
        throw new Error(`${meta.className}.${property.name} refers to ${name}, which is not an entity`)
      property.entity = () => target
    }
    super.loadEntityMetadata(meta)
  }
}

/** Creates the ORM. The pool connects lazily, so this succeeds while the database is unreachable. */
export async function connectOrm(options: {
  url: string
  poolSize: number
  applicationName: string
  onPoolCreated?: (pool: Pool) => void
}) {
  const orm = await MikroORM.init(
    defineConfig({
      entities,
      metadataProvider: NamedReferences,
      clientUrl: options.url,
      extensions: [Migrator],
      migrations: { migrationsList: migrations, tableName: 'migrations', snapshot: false, silent: true },
      pool: { max: options.poolSize },
      driverOptions: {
        application_name: options.applicationName,
        connectionTimeoutMillis: 5_000,
        query_timeout: QUERY_LIMIT_MS,
        keepAlive: true,
        Client: PreparingClient,
        idle_in_transaction_session_timeout: FROZEN_LIMIT_MS,
        onPoolCreated: (pool: Pool) => {
          readNativeTypes(pool)
          pool.on('release', endIfSilent)
          options.onPoolCreated?.(pool)
        },
      },
    }),
  )
  return orm
}

/** How long running queries may delay the close. */
const CLOSE_LIMIT_MS = 5_000

/**
 * Closes a connection whose query timed out. Such a connection waits for a response that may never arrive, and the
 * pool would lend it again.
 */
function endIfSilent(_cause: Error | undefined, client: PoolClient): void {
  if (Reflect.get(client, 'readyForQuery') === false) (client as unknown as Client).end().catch(() => {})
}

/** PostgreSQL type ids. */
const TIMESTAMPTZ = 1184
const INT8 = 20
const INT8_ARRAY: number = 1016 // the driver has no constant for it

/**
 * Makes queries return `Date` and `number` as the entities declare. By default the driver returns strings, which
 * contradict the types of the rows.
 */
function readNativeTypes(pool: Pool): void {
  const parsers = (pool as unknown as { options: { types: TypeOverrides } }).options.types
  parsers.setTypeParser(TIMESTAMPTZ, types.getTypeParser(TIMESTAMPTZ))
  parsers.setTypeParser(INT8, wholeNumber)
  const readTexts = types.getTypeParser(INT8_ARRAY)
  parsers.setTypeParser(INT8_ARRAY, (text: string) => (readTexts(text) as string[]).map(wholeNumber))
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint out of range: ${text}`)
  return value
}

/**
 * Closes the ORM once every connection is returned. The query builder loses a connection that is being opened during
 * the close, and would wait for it indefinitely.
 */
export async function closeOrm(orm: Orm): Promise<void> {
  const pool = await orm.em.getConnection().getNativeClient()
  await waitUntil(async () => pool.totalCount === pool.idleCount, CLOSE_LIMIT_MS)
  await orm.close(true)
}

/** Returns the query builder of an entity manager. Inside a transaction it joins that transaction. */
export function queries(em: EntityManager): Db {
  return em.getKysely<Tables>()
}
