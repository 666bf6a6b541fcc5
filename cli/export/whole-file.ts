import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file that appears under its name only once it is complete: what breaks off leaves nothing behind, and
 * what was there before stays until then.
 * @throws whatever `chunks` or the file system throws
 */
export async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`)
  const file = await open(draft, 'wx')
  try {
    await fill(file, chunks)
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}

async function fill(file: FileHandle, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await file.writeFile(chunk)
    }
    // On the disk before it takes its name: a crash must not leave an empty file in the place of a full one.
    await file.sync()
  } finally {
    await file.close()
  }
}
