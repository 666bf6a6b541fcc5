import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file that appears under its name only once it is complete: what breaks off leaves nothing behind, and
 * what was there before stays until then.
 * @throws whatever `chunks` or the file system throws
 */
export async function writeFileAtomically(
  path: string,
  chunks: AsyncIterable<Uint8Array | string>,
): Promise<void> {
  const target = await targetOf(path)
  // A device or a pipe is written to, not replaced.
  if (target.special) return await fill(await open(path, 'w'), chunks)
  const draft = join(dirname(target.path), `.${basename(target.path)}.${randomBytes(6).toString('hex')}.part`)
  const file = await open(draft, 'wx')
  try {
    await fill(file, chunks)
    await rename(draft, target.path)
  } catch (cause) {
    await rm(draft, { force: true })
    throw cause
  }
}

/** Where the file is: a link stays a link. */
async function targetOf(path: string): Promise<{ path: string; special: boolean }> {
  const existing = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw cause
  })
  if (!existing) return { path, special: false }
  return { path: await realpath(path), special: !existing.isFile() }
}

async function fill(file: FileHandle, chunks: AsyncIterable<Uint8Array | string>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await file.writeFile(chunk)
    }
    // On the disk before it takes its name: a crash must not leave an empty file in the place of a full one.
    await file.sync().catch((cause: NodeJS.ErrnoException) => {
      // Devices and pipes know no such thing.
      if (cause.code !== 'EINVAL' && cause.code !== 'ENOTSUP') throw cause
    })
  } finally {
    await file.close()
  }
}
