import { randomBytes } from 'node:crypto'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Writes a file atomically: the file replaces an existing one only when it is complete. A failure leaves no partial
 * file.
 * @throws the errors of `chunks` and of the file system
 */
export async function writeFileAtomically(
  path: string,
  chunks: AsyncIterable<Uint8Array | string>,
): Promise<void> {
  const target = await targetOf(path)
  // Writes into a device or a pipe instead of replacing it.
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

/** Returns the path behind a symbolic link, and whether it is a device or a pipe. */
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
    // Syncs before the rename: a crash must not leave an empty file under the final name.
    await file.sync().catch((cause: NodeJS.ErrnoException) => {
      // Devices and pipes do not support fsync.
      if (cause.code !== 'EINVAL' && cause.code !== 'ENOTSUP') throw cause
    })
  } finally {
    await file.close()
  }
}
