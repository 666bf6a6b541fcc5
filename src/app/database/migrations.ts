import { Client } from 'pg'
import type { Orm } from './orm.ts'

/** Any number; the same in every process, so that one at a time migrates. */
const MIGRATION_LOCK = 7_466_301

/**
 * Brings the database to the newest schema. Several processes may call it at once: one works, the others wait
 * and then find nothing to do.
 * @throws Error that names the address when the database cannot be reached.
 */
export async function applyMigrations(orm: Orm, databaseUrl: string): Promise<string[]> {
  const lock = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 })
  try {
    await lock.connect()
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
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const applied = await orm.migrator.up()
    return applied.map((migration) => migration.name)
  } finally {
    await lock.end() // ends the lock with the connection
  }
}
