import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type ByteRange,
  ObjectMissingError,
  type ObjectStore,
  type StoredObject,
} from '../../../src/core/storage/object-store.ts'

const KEY = /^[a-zA-Z0-9._-]+(\/[a-zA-Z0-9._-]+)*$/

/** Creates an object store in memory. */
export function createMemoryStore() {
  const objects = new Map<string, { bytes: Buffer; modifiedAt: Date }>()
  const storedOf = (key: string): StoredObject | undefined => {
    const object = objects.get(key)
    if (!object) return undefined
    const { bytes, modifiedAt } = object
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
    return { key, sizeBytes: bytes.length, etag, modifiedAt }
  }
  const put = async (key: string, bytes: Uint8Array): Promise<StoredObject> => {
    if (!KEY.test(key) || key.split('/').includes('..')) throw new TypeError(`invalid key ${key}`)
    objects.set(key, { bytes: Buffer.from(bytes), modifiedAt: new Date() })
    return storedOf(key) as StoredObject
  }
  const readBytes = async (key: string, range?: ByteRange): Promise<Uint8Array> => {
    const object = objects.get(key)
    if (!object) throw new ObjectMissingError(key)
    return range ? object.bytes.subarray(range.start, range.end + 1) : object.bytes
  }
  const store: ObjectStore = {
    put,
    async create(key) {
      const parts: Uint8Array[] = []
      return {
        async write(bytes) {
          parts.push(bytes)
        },
        complete: () => put(key, Buffer.concat(parts)),
        abort: async () => void parts.splice(0),
      }
    },
    stat: async (key) => storedOf(key),
    read: async (key, range) => Readable.from([await readBytes(key, range)]),
    readBytes,
    async delete(keys) {
      for (const key of keys) objects.delete(key)
    },
    async *list(prefix) {
      for (const key of [...objects.keys()].sort())
        if (key.startsWith(prefix)) yield storedOf(key) as StoredObject
    },
    presign: async () => undefined,
    close: async () => {},
  }
  return Object.assign(store, {
    keys: (prefix = '') => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
  })
}
