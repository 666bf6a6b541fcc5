import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rmdir,
  stat,
  statfs,
  unlink,
} from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { isAbsent, systemCode } from './local-errors.ts'
import { StorageFullError, StorageUnavailableError } from './object-store.ts'

/** A deletion that removes empty folders can win the race against a new file this often in a row. */
const MAX_ATTEMPTS = 100

/** How many bytes a file grows between two looks at the free space. */
const CHECK_SPACE_EVERY_BYTES = 16 * 1024 * 1024

/** Returns a function that rejects further bytes of one file when they would use the reserve of its disk. */
export function createSpaceCheck(folder: string, reservedBytes: number) {
  let unchecked = Number.POSITIVE_INFINITY
  return async (bytes: number): Promise<void> => {
    unchecked += bytes
    if (reservedBytes === 0 || unchecked < CHECK_SPACE_EVERY_BYTES) return
    unchecked = 0
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize - bytes >= reservedBytes) return
    const cause = new Error(
      `The disk of ${folder} has less than ${reservedBytes} free bytes, which are reserved.`,
    )
    throw new StorageFullError(undefined, { cause })
  }
}

/** Rejects a path that leads elsewhere by a symbolic link. Fails with ENOENT if the path does not exist. */
export async function requireNoLinks(path: string): Promise<void> {
  const real = await realpath(path)
  if (real === path) return
  const cause = new Error(`${path} leads to ${real} by a symbolic link. Mount a file system there instead.`)
  throw new StorageUnavailableError(undefined, { cause })
}

/** Makes the entries of a folder, and the folder itself, survive a crash. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return // folders cannot be opened
  const folder = await openExisting(path)
  try {
    await folder?.sync()
  } finally {
    await folder?.close()
  }
}

/** Returns undefined for a folder that a deletion of its last file has removed. */
async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw cause
  }
}

/**
 * Gives a complete file its final name, durably. Creates the folders, also when a concurrent deletion removes them. Syncs all
 * folders up to the root, because another process may have created one of them a moment ago.
 */
export async function publishFile(root: string, temporary: string, path: string): Promise<void> {
  const folder = dirname(path)
  for (let attempt = 1; ; attempt++) {
    try {
      await requireNoLinks(folder)
      await rename(temporary, path)
      break
    } catch (cause) {
      if (systemCode(cause) !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw collisionOf(cause) ?? cause
    }
    await createFolders(root, folder)
  }
  for (let above = folder; ; above = dirname(above)) {
    await syncFolder(above)
    if (above === root) return
  }
}

/**
 * Creates the folders one by one. Stops without an error when a deletion has removed one of them. A recursive `mkdir` of Node
 * reports ENOTDIR in that case, the same as for a file in the place of a folder.
 */
async function createFolders(root: string, folder: string): Promise<void> {
  let path = root
  for (const name of relative(root, folder).split(sep)) {
    path = join(path, name)
    try {
      await mkdir(path)
    } catch (cause) {
      const code = systemCode(cause)
      if (code === 'ENOENT') return
      if (code !== 'EEXIST') throw collisionOf(cause) ?? cause
    }
  }
}

/** Returns the error for a key below the key of another object, or above it. */
function collisionOf(cause: unknown): Error | undefined {
  if (!/^(ENOTDIR|EEXIST|EISDIR|ENOTEMPTY)$/.test(systemCode(cause))) return undefined
  return new Error('The key of an object cannot be above or below the key of another object.', { cause })
}

/** Deletes files and the folders that this empties, durably. Ignores files that do not exist. */
export async function deleteFiles(root: string, paths: readonly string[]): Promise<void> {
  const folders = new Set<string>()
  for (const path of paths) {
    try {
      await requireNoLinks(dirname(path))
      await unlink(path)
      folders.add(dirname(path))
    } catch (cause) {
      if (!isAbsent(cause) && systemCode(cause) !== 'EISDIR') throw cause
    }
  }
  for (const folder of folders) await syncFolder(await removeEmptyFolders(root, folder))
}

/** Returns the lowest folder that remains. */
async function removeEmptyFolders(root: string, folder: string): Promise<string> {
  let lowest = folder
  for (; lowest !== root; lowest = dirname(lowest)) {
    try {
      await rmdir(lowest)
    } catch (cause) {
      const code = systemCode(cause)
      if (code === 'ENOTEMPTY' || code === 'EEXIST') break
      if (code !== 'ENOENT') throw cause
    }
  }
  return lowest
}

/** Deletes files that a process has not written for some time, because it was killed. */
export async function deleteStaleFiles(folder: string, maxAgeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    try {
      const { mtimeMs } = await stat(path)
      if (Date.now() - mtimeMs > maxAgeMs) await unlink(path)
    } catch (cause) {
      if (!isAbsent(cause)) throw cause // another process deletes it too, or has published it
    }
  }
}
