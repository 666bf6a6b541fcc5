import { isDiskFull } from '../errors/disk-full.ts'
import { ObjectMissingError, StorageFullError, StorageUnavailableError } from './object-store.ts'

/** Returns the code of a system error, such as `ENOENT`. */
export const systemCode = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : ''

/** Returns whether a file, or a folder above it, does not exist. */
export const isAbsent = (cause: unknown): boolean => /^(ENOENT|ENOTDIR)$/.test(systemCode(cause))

/** Converts an error of the file system into one of the storage. Other errors, such as those of keys, stay as they are. */
export function storageError(cause: unknown): Error {
  if (cause instanceof StorageUnavailableError || cause instanceof ObjectMissingError) return cause
  if (isDiskFull(cause)) return new StorageFullError(undefined, { cause })
  if (cause instanceof Error && !('syscall' in cause)) return cause
  return new StorageUnavailableError(undefined, { cause })
}

/** Runs an operation of the file system and converts its error. */
export async function withStorageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw storageError(cause)
  }
}
