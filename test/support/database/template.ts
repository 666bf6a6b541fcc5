import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { loadConfig } from '../../../src/app/config.ts'
import { createPlatform } from '../../../src/app/container.ts'
import { applyMigrations } from '../../../src/app/database/migrations/apply-migrations.ts'
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
  await createQueues(url)
}

/** Starts a platform with all of its queues once, so that the platforms of the tests find them. */
async function createQueues(url: string): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-test-'))
  const config = loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    BASE_URL: 'http://localhost:3000',
    SMTP_URL: 'smtp://localhost:25',
    MAIL_FROM: 'hub@wheelhouse.test',
    CONTACT_TO: 'support@wheelhouse.test',
    STRIPE_SECRET_KEY: 'sk_test_template',
    STRIPE_WEBHOOK_SECRET: 'whsec_template',
  })
  const log = pino({ level: 'silent' })
  const context = { log, now: () => new Date(), baseUrl: config.baseUrl, fail: () => {} }
  const platform = await createPlatform(config, context)
  await platform.close()
  await rm(dataDir, { recursive: true })
}
