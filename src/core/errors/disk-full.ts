import { causesOf } from './error-causes.ts'

/** PostgreSQL's SQLSTATE for a full disk, and those of the operating system. */
const CODES = new Set(['53100', 'ENOSPC', 'EDQUOT'])
const TEXT = /No space left on device|Disk quota exceeded|wrote only \d+ of \d+ bytes/

/** Returns whether an error or one of its causes reports a full disk. */
export function isDiskFull(thrown: unknown): boolean {
  for (const error of causesOf(thrown)) {
    if ('code' in error && CODES.has(String(error.code))) return true
    if (TEXT.test(error.message)) return true
  }
  return false
}
