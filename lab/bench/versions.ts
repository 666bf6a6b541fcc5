import { join, relative, resolve } from 'node:path'
import { Client } from 'pg'
import type { Lab } from './lab.ts'

/** Returns the path of a checkout from this one. */
export const folderOf = (checkout: string): string => relative(process.cwd(), resolve(checkout))

/** Creates a database in the lab's server, and brings it to the version of a checkout. */
export async function ownDatabase(
  lab: Lab,
  name: string,
  folder: string,
): Promise<{ db: Client; databaseUrl: string }> {
  await lab.db.query(`create database version_${name}`)
  const databaseUrl = Object.assign(new URL(lab.databaseUrl), { pathname: `/version_${name}` }).href
  const migration = lab.children.run(join(folder, 'src/app/migrate.ts'), {
    env: { DATABASE_URL: databaseUrl },
  })
  // Its channel to this process keeps it running.
  const migrated = new Promise<boolean>((resolve) => {
    migration.onLine((line) => line.startsWith('Applied: ') && resolve(true))
    migration.ended.then(() => resolve(false))
  })
  if (!(await migrated)) throw new Error(`${folder} cannot migrate:\n${migration.output()}`)
  await migration.stop()
  const db = new Client({ connectionString: databaseUrl })
  await db.connect()
  return { db, databaseUrl }
}
