import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { serviceUrl } from '../runner/service-url.ts'
import { databaseUrlFor, TEMPLATE_DATABASE } from './template.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates a database, cloned from the migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = serviceUrl('databaseUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(serverUrl, `create database ${name} template ${TEMPLATE_DATABASE}`)
  return {
    url: databaseUrlFor(serverUrl, name),
    drop: () => onServer(serverUrl, `drop database if exists ${name} with (force)`),
  }
}

async function onServer(serverUrl: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
