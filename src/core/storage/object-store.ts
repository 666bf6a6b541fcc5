import type { Readable } from 'node:stream'
import { AppError } from '../errors/errors.ts'

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
  /** Discards what was written. Does nothing after `complete`, and after a failure, which discards it too. */
  abort(): Promise<void>
}

/**
 * Stores recordings and exports: on the local disk, or in S3. Keys are paths of `[a-zA-Z0-9._-]` and `/`, which the platform makes;
 * every other key is refused. No object may have a key below the key of another object (`a` and `a/b`), because a disk cannot
 * store both.
 */
export interface ObjectStore {
  /**
   * Stores a small object. Once it settles, no crash loses the object. Replaces one of the same key. After an outage of S3, an
   * operation that failed may still take effect.
   * @throws StorageFullError without space, StorageUnavailableError when the store does not respond
   */
  put(key: string, bytes: Uint8Array): Promise<StoredObject>
  /**
   * Begins a large object. One that may be larger than 75 GB needs its approximate size, because S3 limits the number of parts.
   */
  create(key: string, options?: { readonly expectedBytes?: number }): Promise<ObjectWriter>
  /** Returns an object; undefined if there is none. */
  stat(key: string): Promise<StoredObject | undefined>
  /**
   * Reads an object, or a part of it, which ends with the object if `end` lies behind that. With an ETag, reads only this version.
   * The stream fails if it cannot deliver every byte.
   * @throws ObjectMissingError without the object, or without this version; RangeError when the part begins behind the end
   */
  read(key: string, range?: ByteRange, etag?: string): Promise<Readable>
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

/**
 * The store does not respond, or rejects requests. The same operation may succeed later. A response to a client shows the message,
 * so addresses and paths belong in the cause.
 */
export class StorageUnavailableError extends AppError {
  constructor(
    message = 'The storage of the platform does not respond. Try again shortly.',
    options?: ErrorOptions,
    code: 'storage_unavailable' | 'disk_full' = 'storage_unavailable',
  ) {
    super(503, code, message, { ...options, headers: { 'Retry-After': '5' } })
  }
}

/** The store has no space left. */
export class StorageFullError extends StorageUnavailableError {
  constructor(message = 'The storage of the platform is full. Try again later.', options?: ErrorOptions) {
    super(message, options, 'disk_full')
  }
}

/** The object does not exist. */
export class ObjectMissingError extends Error {}
