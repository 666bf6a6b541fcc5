import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { isAbsent, storageError, withStorageErrors } from './local-errors.ts'
import { createSpaceCheck, deleteFiles, deleteStaleFiles, requireNoLinks } from './local-files.ts'
import { createFileClock, describeFile, LocalWriter } from './local-writer.ts'
import { isSegment, requireKey, requirePrefix } from './object-keys.ts'
import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type ObjectWriter,
  StorageUnavailableError,
  type StoredObject,
} from './object-store.ts'
import { guardRead } from './read-guard.ts'

/**
 * Lists the files whose keys begin with a prefix, in the order of their keys. Holds the names of one folder of each level in
 * memory. Ignores everything that has no valid key, such as temporary files, and symbolic links.
 */
function listFiles(root: string, prefix: string): AsyncGenerator<StoredObject> {
  return listFolder(root, prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix)
}

async function* listFolder(root: string, folder: string, prefix: string): AsyncGenerator<StoredObject> {
  for (const name of await namesIn(root, folder)) {
    if (!name.startsWith(prefix)) continue
    if (name.endsWith('/')) {
      yield* listFolder(root, name, prefix)
      continue
    }
    try {
      yield describeFile(name, await lstat(join(root, name), { bigint: true }))
    } catch (cause) {
      if (!isAbsent(cause)) throw cause // deleted since
    }
  }
}

/** Returns the keys of the files and, with a slash, of the folders. The slash makes their order the order of all keys. */
async function namesIn(root: string, folder: string): Promise<string[]> {
  try {
    const path = resolve(root, folder)
    await requireNoLinks(path)
    const entries = await readdir(path, { withFileTypes: true })
    return entries
      .filter((entry) => isSegment(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch (cause) {
    if (isAbsent(cause)) return []
    throw cause
  }
}

/** The folder of temporary files. No key begins with a tilde. */
const INCOMING = '~incoming'
const CLEAN_UP_EVERY_MS = 600_000
/** A writer that pauses longer than this loses its file. */
const MAX_PAUSE_MS = 3_600_000
const READ_CHUNK_BYTES = 256 * 1024

/** Stores objects as files, whose paths are the keys, below one directory. */
export class LocalStore implements ObjectStore {
  readonly #directory: string
  readonly #reservedBytes: number
  readonly #clock = createFileClock()
  #root: string | undefined
  #nextCleanUpMs = 0

  /** @param options.reservedBytes what the store leaves free on its disk */
  constructor(directory: string, { reservedBytes = 0 } = {}) {
    this.#directory = resolve(directory)
    this.#reservedBytes = reservedBytes
  }

  async put(key: string, bytes: Uint8Array): Promise<StoredObject> {
    const writer = await this.create(key)
    await writer.write(bytes)
    return await writer.complete()
  }

  async create(key: string): Promise<ObjectWriter> {
    requireKey(key)
    return await withStorageErrors(async () => {
      const root = await this.#open()
      const temporary = join(root, INCOMING, randomUUID())
      const requireSpace = createSpaceCheck(root, this.#reservedBytes)
      return await LocalWriter.create({ root, key, temporary, clock: this.#clock, requireSpace })
    })
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    requireKey(key)
    return await withStorageErrors(async () => {
      try {
        const path = await this.#pathOf(key)
        const stats = await lstat(path, { bigint: true })
        return stats.isFile() ? describeFile(key, stats) : undefined
      } catch (cause) {
        if (isAbsent(cause)) return undefined
        throw cause
      }
    })
  }

  async read(key: string, range?: ByteRange, etag?: string): Promise<Readable> {
    requireKey(key)
    return await withStorageErrors(async () => {
      const file = await this.#openFile(key)
      try {
        return await streamOf(file, key, range, etag)
      } catch (cause) {
        await file.close()
        throw cause
      }
    })
  }

  /** Reads with one call of the system: a stream of small parts takes several times as long. */
  async readBytes(key: string, range?: ByteRange): Promise<Uint8Array> {
    requireKey(key)
    return await withStorageErrors(async () => {
      const file = await this.#openFile(key)
      try {
        const { start, end } = await partOf(file, key, range, undefined)
        return await readPart(file, start, end - start + 1)
      } finally {
        await file.close()
      }
    })
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) requireKey(key)
    await withStorageErrors(async () => {
      const root = await this.#open()
      await deleteFiles(
        root,
        keys.map((key) => join(root, key)),
      )
    })
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    requirePrefix(prefix)
    try {
      yield* listFiles(await this.#open(), prefix)
    } catch (cause) {
      throw storageError(cause)
    }
  }

  async presign(key: string): Promise<undefined> {
    requireKey(key)
  }

  async close(): Promise<void> {}

  /** Returns the directory, which it creates. Fails while the disk is missing or read-only, and succeeds afterwards. */
  async #open(): Promise<string> {
    await mkdir(join(this.#directory, INCOMING), { recursive: true })
    // The directory itself may be a symbolic link to another disk.
    this.#root ??= await realpath(this.#directory)
    if (performance.now() >= this.#nextCleanUpMs) {
      this.#nextCleanUpMs = performance.now() + CLEAN_UP_EVERY_MS
      await deleteStaleFiles(join(this.#root, INCOMING), MAX_PAUSE_MS)
    }
    return this.#root
  }

  /** Returns the path of an existing file, which no symbolic link leads elsewhere. */
  async #pathOf(key: string): Promise<string> {
    const path = join(await this.#open(), key)
    await requireNoLinks(path)
    return path
  }

  async #openFile(key: string): Promise<FileHandle> {
    try {
      return await open(await this.#pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (cause) {
      if (isAbsent(cause)) throw new ObjectMissingError(`${key} does not exist.`, { cause })
      throw cause
    }
  }
}

/** Returns a part of a file. @throws StorageUnavailableError when the file is shorter than it was */
async function readPart(file: FileHandle, start: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled)
    if (bytesRead === 0) {
      const cause = new Error(`A read ended after ${filled} of ${length} bytes.`)
      throw new StorageUnavailableError(undefined, { cause })
    }
    filled += bytesRead
  }
  return bytes
}

/** Returns a stream that closes the file. */
async function streamOf(
  file: FileHandle,
  key: string,
  range: ByteRange | undefined,
  etag: string | undefined,
): Promise<Readable> {
  const { start, end } = await partOf(file, key, range, etag)
  const source = file.createReadStream({ start, end: Math.max(start, end), highWaterMark: READ_CHUNK_BYTES })
  return guardRead(source, { expectedBytes: end - start + 1, translate: storageError })
}

/** Returns the first and the last byte of a part of a file. */
async function partOf(
  file: FileHandle,
  key: string,
  range: ByteRange | undefined,
  etag: string | undefined,
): Promise<ByteRange> {
  const stats = await file.stat({ bigint: true })
  const stored = describeFile(key, stats)
  if (!stats.isFile()) throw new ObjectMissingError(`${key} does not exist.`)
  if (etag !== undefined && etag !== stored.etag) throw new ObjectMissingError(`${key} has changed.`)
  const start = range?.start ?? 0
  const end = Math.min(range?.end ?? Number.POSITIVE_INFINITY, stored.sizeBytes - 1)
  if (range && (start < 0 || start > end)) {
    throw new RangeError(`${key} has ${stored.sizeBytes} bytes, so it has no part ${start} to ${range.end}.`)
  }
  return { start, end }
}
