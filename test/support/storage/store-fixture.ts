import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalStore } from '../../../src/core/storage/local-store.ts'
import type { ObjectStore, StoredObject } from '../../../src/core/storage/object-store.ts'
import { S3Store } from '../../../src/core/storage/s3-store.ts'
import { type S3Server, startS3Server } from './s3-server.ts'

/** A store of a test, and where its files are. */
export interface StoreFixture extends AsyncDisposable {
  readonly store: ObjectStore
  readonly directory: string
}

export interface LocalStoreFixture extends StoreFixture {
  /** Returns how many temporary files exist. */
  temporaryFiles(): Promise<number>
}

/** Creates a store on the local disk, in a directory below a temporary one. */
export async function createLocalStore(): Promise<LocalStoreFixture> {
  const parent = await mkdtemp(join(tmpdir(), 'wheelhouse-objects-'))
  const directory = join(parent, 'objects')
  const store = new LocalStore(directory)
  return {
    store,
    directory,
    temporaryFiles: async () => (await readdir(join(directory, '~incoming'))).length,
    async [Symbol.asyncDispose]() {
      await store.close()
      await rm(parent, { recursive: true, force: true })
    },
  }
}

/** Creates a store in a new S3 server. */
async function createS3Store(): Promise<StoreFixture & { readonly server: S3Server }> {
  const server = await startS3Server()
  const store = new S3Store(server.settings())
  return {
    store,
    server,
    directory: server.directory,
    async [Symbol.asyncDispose]() {
      await store.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** The implementations of the interface, which share one suite. */
export const storeFactories: readonly [name: string, create: () => Promise<StoreFixture>][] = [
  ['the local disk', createLocalStore],
  ['S3', createS3Store],
]

/** Returns everything that a store lists. */
export async function listAll(store: ObjectStore, prefix = ''): Promise<StoredObject[]> {
  const objects: StoredObject[] = []
  for await (const object of store.list(prefix)) objects.push(object)
  return objects
}

/** Returns the keys that a store lists. */
export const keysIn = async (store: ObjectStore, prefix = ''): Promise<string[]> =>
  (await listAll(store, prefix)).map(({ key }) => key)
