import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storageError, withStorageErrors } from './local-errors.ts'
import { publishFile } from './local-files.ts'
import type { ObjectWriter, StoredObject } from './object-store.ts'

const MICROSECONDS = 1_000_000

/** Returns the description of a stored file. Two versions of an object never have the same ETag. */
export const describeFile = (key: string, { size, mtimeNs, mtimeMs, ino }: BigIntStats): StoredObject => ({
  key,
  sizeBytes: Number(size),
  etag: `"${[size, mtimeNs, ino].map((part) => part.toString(36)).join('-')}"`,
  modifiedAt: new Date(Number(mtimeMs)),
})

/**
 * Creates a clock that never returns a time twice, in seconds. The clocks of file systems tick every few milliseconds, and they
 * use the number of a deleted file again.
 */
export function createFileClock(): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, Date.now() * 1_000)
    return last / MICROSECONDS
  }
}

interface Target {
  readonly root: string
  readonly key: string
  /** In the same file system. */
  readonly temporary: string
  readonly clock: () => number
  /** Rejects when the disk has no space for this many bytes more. */
  readonly requireSpace: (bytes: number) => Promise<void>
}

/** Writes a file under a temporary name, and publishes it when it is complete. */
export class LocalWriter implements ObjectWriter {
  readonly #target: Target
  readonly #file: FileHandle
  #lastStep: Promise<void> = Promise.resolve()
  #state: 'open' | 'completed' | 'discarded' = 'open'
  #failure: Error | undefined

  private constructor(target: Target, file: FileHandle) {
    this.#target = target
    this.#file = file
  }

  static async create(target: Target): Promise<LocalWriter> {
    return new LocalWriter(target, await open(target.temporary, 'wx'))
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#step(async () => {
      await this.#target.requireSpace(bytes.length)
      for (let offset = 0; offset < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(bytes, offset)
        offset += bytesWritten
      }
    })
  }

  async complete(): Promise<StoredObject> {
    let stored: StoredObject | undefined
    await this.#step(async () => {
      const { root, key, temporary, clock } = this.#target
      const time = clock()
      await this.#file.utimes(time, time)
      await this.#file.sync()
      stored = describeFile(key, await this.#file.stat({ bigint: true }))
      await this.#file.close()
      await publishFile(root, temporary, join(root, key))
      this.#state = 'completed'
    })
    return stored as StoredObject
  }

  async abort(): Promise<void> {
    await this.#lastStep.catch(() => {}) // its caller receives the error
    await withStorageErrors(() => this.#discard())
  }

  /** Runs a step after those before it. A step that fails discards the file. */
  #step(work: () => Promise<void>): Promise<void> {
    const step = this.#lastStep.then(async () => {
      if (this.#failure) throw this.#failure
      if (this.#state !== 'open') throw new Error(`The object is ${this.#state}. Nothing can be written.`)
      try {
        await work()
      } catch (cause) {
        this.#failure = storageError(cause)
        await this.#discard().catch(() => {}) // the next clean-up deletes the file
        throw this.#failure
      }
    })
    this.#lastStep = step.catch(() => {})
    return step
  }

  async #discard(): Promise<void> {
    if (this.#state !== 'open') return
    this.#state = 'discarded'
    await this.#file.close().catch(() => {}) // nothing of it is kept
    await rm(this.#target.temporary, { force: true })
  }
}
