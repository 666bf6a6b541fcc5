import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type StoredObject,
} from '../../../src/core/storage/object-store.ts'

/** A store in memory, with the number of its reads. */
export class MemoryStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>()
  reads = 0
  /** Delays and failures of reads. */
  beforeRead: (key: string) => Promise<void> = async () => {}

  async put(key: string, bytes: Uint8Array): Promise<StoredObject> {
    this.objects.set(key, bytes)
    return describe(key, bytes)
  }

  async create(key: string) {
    const parts: Uint8Array[] = []
    return {
      write: async (bytes: Uint8Array) => void parts.push(bytes),
      complete: () => this.put(key, Buffer.concat(parts)),
      abort: async () => {},
    }
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    const bytes = this.objects.get(key)
    return bytes && describe(key, bytes)
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    return Readable.from([await this.readBytes(key, range)])
  }

  async readBytes(key: string, range?: ByteRange): Promise<Uint8Array> {
    this.reads++
    await this.beforeRead(key)
    const bytes = this.objects.get(key)
    if (!bytes) throw new ObjectMissingError(`${key} does not exist`)
    return range ? bytes.slice(range.start, range.end + 1) : bytes
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key)
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    for (const [key, bytes] of [...this.objects].sort())
      if (key.startsWith(prefix)) yield describe(key, bytes)
  }

  async presign(): Promise<undefined> {}
  async close(): Promise<void> {}
}

const describe = (key: string, bytes: Uint8Array): StoredObject => ({
  key,
  sizeBytes: bytes.length,
  etag: `"${createHash('sha256').update(bytes).digest('hex')}"`,
  modifiedAt: new Date(),
})
