import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { serviceUrl } from '../runner/service-url.ts'
import { databaseUrlFor, TEMPLATE_DATABASE } from './template.ts'

export interface TestDatabase {
  readonly url: string
  /** Returns the number of open connections. */
  connections(): Promise<number>
  drop(): Promise<void>
}

const CONNECTIONS = `select count(*)::int as count from pg_stat_activity where datname = $1
  and backend_type = 'client backend'`

/** One connection to the server for all databases of this process. It ends with the process. */
let server: Promise<Client> | undefined

/** Creates a database, cloned from the migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = serviceUrl('databaseUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  server ??= connectToServer(serverUrl)
  const client = await server
  // Without fsync, copying files costs half of copying blocks through the log.
  await client.query(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`)
  return {
    url: databaseUrlFor(serverUrl, name),
    connections: async () => (await client.query(CONNECTIONS, [name])).rows[0].count,
    drop: async () => void (await client.query(`drop database if exists ${name} with (force)`)),
  }
}

async function connectToServer(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  client.once('error', () => {
    server = undefined // the server closed it
  })
  await client.connect()
  return client
}
