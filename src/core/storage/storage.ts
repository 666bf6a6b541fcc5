import { LocalStore } from './local-store.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3Settings } from './s3-requests.ts'

/** The settings of the storage: a directory, or a bucket of S3. */
export type StorageSettings =
  | { readonly kind: 'local'; readonly directory: string }
  | ({ readonly kind: 's3' } & S3Settings)

/** The part of the local disk that stays free, because a database that shares it must continue. */
const RESERVED_BYTES = 500_000_000

/** Creates the store of the settings. Loads the client for S3, which takes time and memory, only if it is used. */
export async function createObjectStore(settings: StorageSettings): Promise<ObjectStore> {
  if (settings.kind === 'local') {
    return new LocalStore(settings.directory, { reservedBytes: RESERVED_BYTES })
  }
  const { S3Store } = await import('./s3-store.ts')
  return new S3Store(settings)
}
