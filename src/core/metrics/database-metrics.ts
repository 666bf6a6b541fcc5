import { statfs } from 'node:fs/promises'
import type { MikroORM } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import pTimeout from 'p-timeout'
import type { DiskWatch } from '../database/disk-watch.ts'
import type { Db } from '../database/tables.ts'
import type { Metrics } from './metrics.ts'

const OUTBOX_QUERY_TIMEOUT_MS = 1_000
/** Rows are counted up to this limit. A queue of this length is an alarm at any length. */
const COUNT_LIMIT = 100_000

/**
 * Measures the pool and the outbox. When the database does not respond within a second, `wheelhouse_database_up` is 0
 * and the gauges that need a query are left out.
 */
export function measureDatabase(metrics: Metrics, deps: { db: Db; orm: MikroORM }): void {
  const { db, orm } = deps
  const queryOutbox = async () => {
    try {
      return await pTimeout(readOutbox(db), { milliseconds: OUTBOX_QUERY_TIMEOUT_MS })
    } catch {
      return undefined
    }
  }
  /** One query serves the three gauges of a scrape, and concurrent scrapes. */
  let pendingQuery: ReturnType<typeof queryOutbox> | undefined
  const outbox = () => {
    pendingQuery ??= queryOutbox().finally(() => {
      pendingQuery = undefined
    })
    return pendingQuery
  }
  metrics.gauge('wheelhouse_database_up', '1 when the database responds, 0 otherwise', async () =>
    (await outbox()) ? 1 : 0,
  )
  metrics.gauge(
    'wheelhouse_outbox_rows',
    `Domain events in the outbox that are not published yet (counted up to ${COUNT_LIMIT})`,
    async () => (await outbox())?.rows,
  )
  metrics.gauge(
    'wheelhouse_outbox_lag_seconds',
    'Age of the oldest unpublished domain event in the outbox',
    async () => (await outbox())?.lagSeconds,
  )

  const pool = async () => {
    await outbox() // the query of the scrape is not counted
    return await orm.em.getConnection().getNativeClient()
  }
  metrics.gauge('wheelhouse_database_pool_size', 'Open connections', async () => (await pool()).totalCount)
  metrics.gauge('wheelhouse_database_pool_idle', 'Idle connections', async () => (await pool()).idleCount)
  metrics.gauge(
    'wheelhouse_database_pool_waiting',
    'Queries that are waiting for a connection',
    async () => (await pool()).waitingCount,
  )
}

/**
 * Measures whether the disk of the database is full, and the free space of an embedded database.
 * @param dataDir the directory of the embedded database; undefined with an external database
 */
export function measureDisk(metrics: Metrics, watch: DiskWatch, dataDir: string | undefined): void {
  metrics.gauge('wheelhouse_disk_full', '1 when the disk of the database is full, 0 otherwise', () =>
    Number(watch.full),
  )
  metrics.counter(
    'wheelhouse_disk_full_errors_total',
    'Statements that failed because of a full disk',
    () => watch.errors,
  )
  if (dataDir === undefined) return
  metrics.gauge('wheelhouse_data_dir_free_bytes', 'Free space on the disk of DATA_DIR', async () => {
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
