import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from '../lab.ts'
import { figure } from '../stats.ts'
import type { Room } from './scenario.ts'

/** PostgreSQL's processes report their statistics once a second. */
const STATISTICS_MS = 1_500

/** The work of PostgreSQL in the database of the benchmark so far. */
export interface DatabaseUse {
  /** Every statement outside of a transaction counts as one. */
  readonly transactions: number
  /** Rows inserted, updated and deleted. */
  readonly rows: number
  readonly walBytes: number
}

export async function databaseUse({ db }: Lab): Promise<DatabaseUse> {
  await delay(STATISTICS_MS)
  const { rows } = await db.query<DatabaseUse>(
    `select (xact_commit + xact_rollback)::float8 as transactions,
       (tup_inserted + tup_updated + tup_deleted)::float8 as rows,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
     from pg_stat_database where datname = current_database()`,
  )
  return rows[0] as DatabaseUse
}

/** Returns what each of this many operations has cost between two readings. */
export function costOf(before: DatabaseUse, after: DatabaseUse, operations: number): DatabaseUse {
  return {
    transactions: (after.transactions - before.transactions) / operations,
    rows: (after.rows - before.rows) / operations,
    walBytes: (after.walBytes - before.walBytes) / operations,
  }
}

export const costText = ({ transactions, rows, walBytes }: DatabaseUse): string =>
  `${figure(transactions)} transactions, ${figure(rows)} rows, ${figure(walBytes)} B of write-ahead log each`

/** Subscribes the users of the rooms to events, as a read of their streams does. */
export async function subscribe({ db }: Lab, rooms: readonly Room[]): Promise<void> {
  await db.query(
    `insert into event_streams (user_id, head, subscribed, renewed_at)
     select id, 0, true, now() from unnest($1::uuid[]) as id
     on conflict (user_id) do update set subscribed = true, renewed_at = now()`,
    [rooms.flatMap(({ owner, operator }) => [owner.id, operator.id])],
  )
}
