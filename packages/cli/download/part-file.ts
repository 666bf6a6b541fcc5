import { createHash } from 'node:crypto'
import { constants, type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises'
import { Failure } from '../failure.ts'

/** Errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** The received beginning of a file. */
export interface PartFile {
  readonly handle: FileHandle
  /** Number of received bytes. */
  readonly bytes: number
  append(chunk: Uint8Array): Promise<void>
  /** Drops all received bytes. */
  restart(): Promise<void>
  /** Returns the SHA-256 of the received bytes in hexadecimal. */
  digest(): string
}

/**
 * Opens the part of an interrupted download, or creates an empty one. Hashes what it contains.
 * @param maxBytes the size of the whole file; a longer part is dropped
 */
export async function openPart(path: string, maxBytes: number): Promise<PartFile> {
  // A link could lead to a file of another user.
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o666)
  try {
    let hash = createHash('sha256')
    let bytes = 0
    const restart = async () => {
      await handle.truncate(0)
      hash = createHash('sha256')
      bytes = 0
    }
    if ((await handle.stat()).size > maxBytes) await restart()
    for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
      hash.update(chunk)
      bytes += chunk.length
    }
    return {
      handle,
      get bytes() {
        return bytes
      },
      async append(chunk) {
        // At its position: another download of the same file writes the same bytes there.
        for (let written = 0; written < chunk.length; ) {
          const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, bytes + written)
          written += bytesWritten
        }
        hash.update(chunk)
        bytes += chunk.length
      },
      restart,
      digest: () => hash.copy().digest('hex'),
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

/** Gives a complete part its final name. @throws Failure if a file has that name, unless `overwrites` */
export async function publishPart(part: string, target: string, overwrites: boolean): Promise<void> {
  if (overwrites) return await rename(part, target)
  try {
    // Unlike a rename, it never replaces a file that another program has created.
    await link(part, target)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw existsFailure(target)
    if (!NO_LINKS.includes(code)) throw cause
    if (await exists(target)) throw existsFailure(target)
    return await rename(part, target)
  }
  await rm(part)
}

export const existsFailure = (path: string) =>
  new Failure('refused', `${path} exists. Replace it with --force, or name another file with -o.`)

/** Returns whether a path exists, also as a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw cause
  }
}
