import type { Readable } from 'node:stream'

/** Bytes `start` to `end`, both included, as in the Range header of HTTP. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface StoredObject {
  readonly key: string
  readonly sizeBytes: number
  /** Changes with the content. With quotation marks, as in the ETag header. */
  readonly etag: string
  readonly modifiedAt: Date
}

/** A large object on its way into the store. It becomes visible with `complete`, whole or not at all. */
export interface ObjectWriter {
  /** Adds bytes. Settles when more may be added. The writer copies nothing: do not change the bytes afterwards. */
  write(bytes: Uint8Array): Promise<void>
  /** Makes the object durable and visible. */
  complete(): Promise<StoredObject>
  /** Discards what was written. */
  abort(): Promise<void>
}

/**
 * Stores recordings and exports: on the local disk, or in S3. Keys are paths of `[a-zA-Z0-9._-]` and `/`, which the platform makes;
 * every other key is refused.
 */
export interface ObjectStore {
  /**
   * Stores a small object. Once it settles, no crash loses the object. Replaces one of the same key.
   * @throws StorageFullError without space, StorageUnavailableError when the store does not respond
   */
  put(key: string, bytes: Uint8Array): Promise<StoredObject>
  /** Begins a large object. */
  create(key: string): Promise<ObjectWriter>
  /** Returns an object; undefined if there is none. */
  stat(key: string): Promise<StoredObject | undefined>
  /**
   * Reads an object, or a part of it.
   * @throws ObjectMissingError
   */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Reads an object, or a part of it, into memory. */
  readBytes(key: string, range?: ByteRange): Promise<Uint8Array>
  /** Deletes objects. Ignores those that do not exist. */
  delete(keys: readonly string[]): Promise<void>
  /** Lists the objects whose keys begin with a prefix, in the order of their keys. */
  list(prefix: string): AsyncIterable<StoredObject>
  /**
   * Returns an address from which a client can download an object without credentials, for a limited time; undefined for a store
   * that clients cannot reach, whose objects the platform sends itself.
   */
  presign(
    key: string,
    options: { readonly expiresSeconds: number; readonly fileName: string; readonly contentType: string },
  ): Promise<string | undefined>
  close(): Promise<void>
}

/** The store does not respond, or rejects requests. The same operation may succeed later. */
export class StorageUnavailableError extends Error {}

/** The store has no space left. */
export class StorageFullError extends StorageUnavailableError {}

/** The object does not exist. */
export class ObjectMissingError extends Error {}
