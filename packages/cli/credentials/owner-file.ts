import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { Failure } from '../failure.ts'

export const OWNER_ONLY_FILE = 0o600

/**
 * Writes JSON into a file that only its owner can read. Replaces the file atomically, after the new content is on the
 * disk.
 * @throws Failure when the file cannot be written; the previous file then remains
 */
export async function writeOwnerFile(path: string, value: unknown): Promise<void> {
  const draft = `${path.replace(/\.json$/, '')}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', OWNER_ONLY_FILE)
    try {
      await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    const { code } = cause as NodeJS.ErrnoException
    throw new Failure('refused', `${path} cannot be written (${code})`, { cause })
  }
}
