import { Client } from 'pg'
import { migrations } from './migrations/index.ts'
import type { Orm } from './orm.ts'

/** Any number that is the same in every process, so that only one process migrates at a time. */
const MIGRATION_LOCK = 7_466_301

/**
 * Migrates the database to the newest schema. Safe to call from several processes at once: one migrates, and the
 * others wait. A process that finds the newest schema takes no lock.
 * @throws Error that names the address when the database is unreachable.
 */
export async function applyMigrations(orm: Orm, databaseUrl: string): Promise<string[]> {
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
    const applied = await orm.migrator.up()
    return applied.map((migration) => migration.name)
  } finally {
    await client.end() // the lock ends with the connection
  }
}

/** Returns whether every migration of this version has been applied. */
async function isMigrated(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ table: string | null }>(`select to_regclass('migrations') as table`)
  if (!rows[0]?.table) return false
  const applied = await client.query<{ name: string }>('select name from migrations')
  const names = new Set(applied.rows.map(({ name }) => name))
  return migrations.every(({ name }) => names.has(name))
}
