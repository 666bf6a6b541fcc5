import { Client } from 'pg'
import { migrations } from './index.ts'

/** Any number that is the same in every process, so that only one process migrates at a time. */
const MIGRATION_LOCK = 7_466_301

/** The last migration before 0.1.0. The schema after it is that of the first migration. */
const LAST_BEFORE_RELEASE = '0053_truthful_figures'

/**
 * Migrates the database to the newest schema. Safe to call from several processes at once: one migrates, and the
 * others wait. A process that finds the newest schema takes no lock.
 * @throws Error that names the address when the database is unreachable, or the migration that a database from before
 * 0.1.0 ended at. Such a database is not changed.
 */
export async function applyMigrations(
  orm: { readonly migrator: { up(): Promise<readonly { name: string }[]> } },
  databaseUrl: string,
): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  try {
    await client.connect()
  } catch (cause) {
    const { hostname, port, pathname } = new URL(databaseUrl)
    const reason =
      cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause)
    throw new Error(
      `Cannot use the database ${pathname.slice(1)} at ${hostname}:${port || 5432} (DATABASE_URL): ${reason}`,
      { cause },
    )
  }
  try {
    if (await isMigrated(client)) return []
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await takeOver(client)
    const applied = await orm.migrator.up()
    return applied.map((migration) => migration.name)
  } finally {
    await client.end() // the lock ends with the connection
  }
}

/** Returns the names of the applied migrations. */
async function appliedNames(client: Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ table: string | null }>(`select to_regclass('migrations') as table`)
  if (!rows[0]?.table) return new Set()
  const applied = await client.query<{ name: string }>('select name from migrations order by id')
  return new Set(applied.rows.map(({ name }) => name))
}

/** Returns whether every migration of this version has been applied. */
async function isMigrated(client: Client): Promise<boolean> {
  const applied = await appliedNames(client)
  return migrations.every(({ name }) => applied.has(name))
}

/** Marks the first migration as applied in a database whose schema the migrations before 0.1.0 have made. */
async function takeOver(client: Client): Promise<void> {
  const applied = await appliedNames(client)
  const [first] = migrations
  if (!first || applied.size === 0 || applied.has(first.name)) return
  if (!applied.has(LAST_BEFORE_RELEASE))
    throw new Error(
      `The schema of the database is older than 0.1.0 (${[...applied].at(-1)}): bring it to ${LAST_BEFORE_RELEASE} with the last commit that has this migration. Nothing was changed.`,
    )
  await client.query('insert into migrations (name, executed_at) values ($1, now())', [first.name])
}
