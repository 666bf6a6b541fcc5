import { randomUUID } from 'node:crypto'
import { serviceUrl } from '../runner/service-url.ts'
import type { TestDatabase } from './database.ts'
import { connectTo } from './sql.ts'
import { databaseUrlFor } from './template.ts'

/** Creates an empty database on the server of the migrated ones. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const serverUrl = serviceUrl('databaseUrl')
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  const onServer = async (statement: string) => {
    await using client = await connectTo(serverUrl)
    await client.query(statement)
  }
  await onServer(`create database ${name}`)
  return {
    url: databaseUrlFor(serverUrl, name),
    drop: () => onServer(`drop database if exists ${name} with (force)`),
  }
}
