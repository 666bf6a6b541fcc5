import { readdirSync, readFileSync } from 'node:fs'
import { Migration } from '@mikro-orm/migrations'
import { jobSchemaSql } from '../../../core/jobs/schema.ts'

/** What a migration needs besides its file. The job engine brings its own schema. */
const packages: Readonly<Record<string, () => string>> = { '0001_schema': jobSchemaSql }

/**
 * Every migration: the SQL files beside this one, in the order of their numbers. Add a file for a change; never edit a
 * file that has been released.
 */
export const migrations = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => {
    const name = file.slice(0, -'.sql'.length).replaceAll('-', '_')
    return {
      name,
      class: class extends Migration {
        override name = name
        override up(): void {
          this.addSql(readFileSync(new URL(file, import.meta.url), 'utf8'))
          const sql = packages[name]?.()
          if (sql) this.addSql(sql)
        }
      },
    }
  })
