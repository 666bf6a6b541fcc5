import { statfs } from 'node:fs/promises'
import type { MikroORM } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { withTimeout } from '../concurrency/concurrency.ts'
import type { DiskWatch } from '../database/disk-watch.ts'
import type { Db } from '../database/tables.ts'
import type { Metrics } from './metrics.ts'

const OUTBOX_QUERY_TIMEOUT_MS = 1_000
/** Rows are counted no further than this; a queue that long is an alarm at any length. */
const COUNT_LIMIT = 100_000

/**
 * The pool, and what waits in the outbox. A database that does not answer within a second shows as
 * `wheelhouse_database_up 0`, and what only it knows is left out.
 */
export function measureDatabase(metrics: Metrics, deps: { db: Db; orm: MikroORM }): void {
  const { db, orm } = deps
  const queryOutbox = async () => {
    try {
      return await withTimeout(OUTBOX_QUERY_TIMEOUT_MS, 'outbox not looked at in time', readOutbox(db))
    } catch {
      return undefined
    }
  }
  /** One look serves the three gauges of an answer, and everybody who asks meanwhile. */
  let pendingQuery: ReturnType<typeof queryOutbox> | undefined
  const outbox = () => {
    pendingQuery ??= queryOutbox().finally(() => {
      pendingQuery = undefined
    })
    return pendingQuery
  }
  metrics.gauge('wheelhouse_database_up', 'Whether the database answers', async () =>
    (await outbox()) ? 1 : 0,
  )
  metrics.gauge(
    'wheelhouse_outbox_rows',
    `Facts that wait to be told (counted up to ${COUNT_LIMIT})`,
    async () => (await outbox())?.rows,
  )
  metrics.gauge(
    'wheelhouse_outbox_lag_seconds',
    'Age of the oldest fact that waits',
    async () => (await outbox())?.lagSeconds,
  )

  const pool = async () => {
    await outbox() // our own query is not what waits or works
    return await orm.em.getConnection().getNativeClient()
  }
  metrics.gauge('wheelhouse_database_pool_size', 'Open connections', async () => (await pool()).totalCount)
  metrics.gauge('wheelhouse_database_pool_idle', 'Idle connections', async () => (await pool()).idleCount)
  metrics.gauge(
    'wheelhouse_database_pool_waiting',
    'Queries that wait for a connection',
    async () => (await pool()).waitingCount,
  )
}

/**
 * Whether the database's disk is full, and how much room an embedded one has left.
 * @param dataDir the directory of the embedded database; undefined with a database elsewhere
 */
export function measureDisk(metrics: Metrics, watch: DiskWatch, dataDir: string | undefined): void {
  metrics.gauge('wheelhouse_disk_full', 'Whether the disk of the database is full', () => Number(watch.full))
  metrics.counter(
    'wheelhouse_disk_full_errors_total',
    'Statements refused by a full disk',
    () => watch.errors,
  )
  if (dataDir === undefined) return
  metrics.gauge('wheelhouse_data_dir_free_bytes', 'Room left on the disk of DATA_DIR', async () => {
    const { bavail, bsize } = await statfs(dataDir)
    return bavail * bsize
  })
}

async function readOutbox(db: Db): Promise<{ rows: number; lagSeconds: number }> {
  const { rows } = await sql<{ rows: number; lag: number | null }>`
    select (select count(*) from (select from outbox limit ${COUNT_LIMIT}) as counted)::int as rows,
      (select extract(epoch from now() - created_at) from outbox order by id limit 1)::float8 as lag
  `.execute(db)
  const [found] = rows
  return { rows: found?.rows ?? 0, lagSeconds: Math.max(0, found?.lag ?? 0) }
}
