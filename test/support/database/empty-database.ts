import { randomUUID } from 'node:crypto'
import { serviceUrl } from '../runner/service-url.ts'
import { connectTo } from './sql.ts'
import { databaseUrlFor } from './template.ts'

export interface EmptyDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates an empty database on the server of the migrated ones. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
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
