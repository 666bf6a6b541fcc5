import { readFile } from 'node:fs/promises'
import { Failure } from './failure.ts'

/**
 * Reads a declared schema, which the platform validates; null for an empty path.
 * @param what the name of the schema, for the error
 * @throws Failure if the file is not readable, or not JSON
 */
export async function readSchema(path: string, what: string): Promise<Record<string, unknown> | null> {
  if (path === '') return null
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new Failure('usage', `The ${what} in ${path} cannot be read: ${(cause as Error).message}`)
  }
}
