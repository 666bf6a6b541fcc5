import { ObjectMissingError, StorageFullError, StorageUnavailableError } from './object-store.ts'

/** Names of errors of S3 servers without space: Ceph, MinIO, Garage and others. */
const FULL = /quota|storagefull|insufficientstorage|insufficientcapacity|nospace/i

interface S3Failure extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** Returns the HTTP status of a failed request; undefined if no response arrived. */
export const statusOf = (cause: unknown): number | undefined =>
  cause instanceof Error ? (cause as S3Failure).$metadata?.httpStatusCode : undefined

/** Returns whether a request failed because the object does not exist. A missing bucket is another error. */
export function isMissing(cause: unknown): boolean {
  if (!(cause instanceof Error) || cause.name === 'NoSuchBucket') return false
  return cause.name === 'NoSuchKey' || cause.name === 'NotFound' || statusOf(cause) === 404
}

/** Converts an error of the client for S3 into one of the storage. */
export function s3Error(cause: unknown): Error {
  if (
    cause instanceof StorageUnavailableError ||
    cause instanceof ObjectMissingError ||
    cause instanceof RangeError
  ) {
    return cause
  }
  const isFull = statusOf(cause) === 507 || (cause instanceof Error && FULL.test(cause.name))
  return isFull
    ? new StorageFullError(undefined, { cause })
    : new StorageUnavailableError(undefined, { cause })
}
