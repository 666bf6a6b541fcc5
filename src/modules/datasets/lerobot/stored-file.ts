import { createHash } from 'node:crypto'
import type { ObjectStore } from '../../../core/storage/object-store.ts'

/** The methods that the writing of a dataset needs of the storage. */
export type DatasetStore = Pick<ObjectStore, 'readBytes' | 'create'>

/** A file of a dataset, and the object that holds it. */
export interface DatasetFile {
  /** Its path in the dataset. */
  readonly path: string
  readonly key: string
  readonly sizeBytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** Begins a file of a dataset as an object, and computes its size and checksum. */
export async function openDatasetFile(store: Pick<ObjectStore, 'create'>, path: string, key: string) {
  const writer = await store.create(key)
  const hash = createHash('sha256')
  let sizeBytes = 0
  return {
    /** Adds bytes, which must not change afterwards. */
    async write(bytes: Uint8Array): Promise<void> {
      hash.update(bytes)
      sizeBytes += bytes.length
      await writer.write(bytes)
    },
    async complete(): Promise<DatasetFile> {
      await writer.complete()
      return { path, key, sizeBytes, sha256: hash.digest('hex') }
    },
    abort: (): Promise<void> => writer.abort(),
  }
}
export type OpenDatasetFile = Awaited<ReturnType<typeof openDatasetFile>>

/** Stores a small file of a dataset. */
export async function storeDatasetFile(
  store: Pick<ObjectStore, 'create'>,
  { path, key }: { path: string; key: string },
  content: Uint8Array | string,
): Promise<DatasetFile> {
  const file = await openDatasetFile(store, path, key)
  try {
    await file.write(typeof content === 'string' ? Buffer.from(content) : content)
    return await file.complete()
  } catch (cause) {
    await file.abort().catch(() => {}) // the first error says why
    throw cause
  }
}
