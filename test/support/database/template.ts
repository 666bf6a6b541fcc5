import { Client } from 'pg'
import { applyMigrations } from '../../../src/app/database/migrations.ts'
import { connectOrm } from '../../../src/app/database/orm.ts'

/** Name of the migrated database that every test file clones. */
export const TEMPLATE_DATABASE = 'wheelhouse_test_template'

/** Returns the URL of another database on the same server. */
export function databaseUrlFor(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.toString()
}

/** Recreates the template from the current migrations. */
export async function prepareTemplate(serverUrl: string): Promise<void> {
  const admin = new Client({ connectionString: serverUrl })
  await admin.connect()
  try {
    await admin.query(`drop database if exists ${TEMPLATE_DATABASE} with (force)`)
    await admin.query(`create database ${TEMPLATE_DATABASE}`)
  } finally {
    await admin.end()
  }
  const url = databaseUrlFor(serverUrl, TEMPLATE_DATABASE)
  const orm = await connectOrm({ url, poolSize: 2, applicationName: 'wheelhouse-template' })
  try {
    await applyMigrations(orm, url)
  } finally {
    await orm.close(true)
  }
}
