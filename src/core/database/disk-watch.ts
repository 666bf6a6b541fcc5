import { sql } from 'kysely'
import type { Client, Pool } from 'pg'
import { isDiskFull } from '../errors/disk-full.ts'
import type { Log } from '../log.ts'
import type { Db } from './tables.ts'

/** Rows of 100 bytes that a probe writes: more than a megabyte, so that PostgreSQL must allocate disk space. */
const PROBE_ROWS = 12_000

/** Detects from the errors of the server whether the disk of the database is full. */
export interface DiskWatch {
  readonly full: boolean
  /** Disk full errors since the start of this process. */
  readonly errors: number
  /** Checks every error that the server sends to a connection of this pool. */
  attach(pool: Pool): void
  /** Records a disk full error. Ignores other errors. */
  recordError(cause: unknown): void
  /** Checks, while the disk is full, whether it has free space again, by writing. */
  check(db: Db): Promise<void>
}

/** Creates the disk watch of a process. */
export function createDiskWatch(log: Log): DiskWatch {
  let full = false
  let errors = 0
  const recordError = (cause: unknown) => {
    if (!isDiskFull(cause)) return
    errors++
    if (!full) log.error({ err: cause }, 'the disk of the database is full: writes fail until space is freed')
    full = true
  }
  return {
    get full() {
      return full
    },
    get errors() {
      return errors
    },
    recordError,
    attach(pool) {
      pool.on('connect', (client) => {
        // Every error of the server passes through this listener, for every query.
        ;(client as unknown as Client).connection.on('errorMessage', recordError)
      })
    },
    async check(db) {
      if (!full) return
      try {
        await writeProbe(db)
      } catch {
        return // still full, or unreachable: the next check tests again
      }
      full = false
      log.warn('the disk of the database has free space again')
    },
  }
}

/** Writes about a megabyte of temporary data and drops it. */
async function writeProbe(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`create temporary table disk_probe on commit drop as
      select repeat('x', 64) as filler from generate_series(1, ${sql.lit(PROBE_ROWS)})`.execute(tx)
  })
}
