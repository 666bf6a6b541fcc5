import { randomUUID } from 'node:crypto'
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFull } from '../errors/disk-full.ts'

/** As much as a key file or a pid file needs. A full disk does not accept it. */
const PROBE = 'x'.repeat(8_192)

/** The data directory without DATA_DIR. */
export const DEFAULT_DATA_DIR = '.data'

/**
 * Returns the data directory of a platform that first began while a platform on another port used the default one. The port
 * keeps it.
 */
export const separateDataDir = (dataDir: string, port: number | string): string =>
  join(dataDir, `port-${port}`)

/**
 * Creates the directory DATA_DIR if it does not exist, and writes to it once.
 * @throws Error with one sentence that says what is wrong and what to do
 */
export function openDataDir(dataDir: string): void {
  const probe = join(dataDir, `.write-probe-${randomUUID()}`)
  try {
    mkdirSync(dataDir, { recursive: true })
    try {
      writeFileSync(probe, PROBE)
    } finally {
      unlinkSync(probe)
    }
  } catch (cause) {
    throw dataDirProblem(dataDir, cause) ?? cause
  }
}

/** Returns an error that says why DATA_DIR cannot be used; undefined for an error of another kind. */
export function dataDirProblem(dataDir: string, cause: unknown): Error | undefined {
  if (isDiskFull(cause)) {
    return problem(
      cause,
      `The disk of DATA_DIR (${dataDir}) is full: free some space, or set DATA_DIR to another disk.`,
    )
  }
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const advice = 'set DATA_DIR to a directory that this user can write to.'
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return problem(cause, `DATA_DIR (${dataDir}) is a file or lies under one: ${advice}`)
  }
  if (code === 'EROFS')
    return problem(cause, `DATA_DIR (${dataDir}) is on a read-only file system: ${advice}`)
  if (code === 'EACCES' || code === 'EPERM') {
    return problem(cause, `DATA_DIR (${dataDir}) cannot be written by this user: ${advice}`)
  }
  return undefined
}

const problem = (cause: unknown, sentence: string) => new Error(sentence, { cause })
