import { sql } from 'kysely'
import type { Client, Pool } from 'pg'
import { isDiskFull } from '../errors/disk-full.ts'
import type { Log } from '../log.ts'
import type { Db } from './tables.ts'

/** Rows of 100 bytes that a probe writes: more than a megabyte, so that it needs new room on the disk. */
const PROBE_ROWS = 12_000

/** Knows whether the database's disk is full, from the errors that the server sends. */
export interface DiskWatch {
  readonly full: boolean
  /** Errors of this kind since the start of this process. */
  readonly errors: number
  /** Looks at every error that the server sends to a connection of this pool. */
  attach(pool: Pool): void
  /** Takes note of an error; one of another kind changes nothing. */
  recordError(cause: unknown): void
  /** While the disk is full: finds out whether there is room again, by writing. */
  check(db: Db): Promise<void>
}

/** Creates the watch of one process. */
export function createDiskWatch(log: Log): DiskWatch {
  let full = false
  let errors = 0
  const recordError = (cause: unknown) => {
    if (!isDiskFull(cause)) return
    errors++
    if (!full) log.error({ err: cause }, 'the disk of the database is full: nothing can be stored')
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
        // The one place that every error of the server passes, whichever query it belongs to.
        ;(client as unknown as Client).connection.on('errorMessage', recordError)
      })
    },
    async check(db) {
      if (!full) return
      try {
        await writeProbe(db)
      } catch {
        return // still full, or away: the next check finds out
      }
      full = false
      log.warn('the disk of the database has room again')
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
