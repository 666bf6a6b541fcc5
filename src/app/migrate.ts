import { loadConfig } from './config.ts'
import { applyMigrations } from './database/migrations/apply-migrations.ts'
import { connectOrm } from './database/orm.ts'

/** `npm run migrate`: migrates the database of DATABASE_URL to the newest schema and exits. */
const config = loadConfig()
if (!config.databaseUrl) {
  console.error('DATABASE_URL is not set. npm start migrates the embedded database.')
  process.exit(1)
}
const orm = await connectOrm({ url: config.databaseUrl, poolSize: 1, applicationName: 'wheelhouse-migrate' })
try {
  const applied = await applyMigrations(orm, config.databaseUrl)
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'The schema is up to date.')
} finally {
  await orm.close(true)
}
