import { Pool } from 'pg'

/** Rows in one statement, as many as Wheelhouse writes in one. */
export const ROWS_PER_STATEMENT = 4_000

/** The update that Wheelhouse makes, copied so that the limit does not change with Wheelhouse's own code. */
export const BEATS_SQL = `
update robot_presence p set last_heartbeat = to_timestamp(i.beat_ms / 1000)
from unnest($1::uuid[], $2::int[], $3::float8[]) as i (robot_id, epoch, beat_ms)
where p.robot_id = i.robot_id and p.epoch = i.epoch and p.connected`

/** Returns a pool that commits as Wheelhouse's presence does. */
export function openBeatsPool(databaseUrl: string, size: number): Pool {
  return new Pool({
    connectionString: databaseUrl,
    max: size,
    onConnect: (client) => client.query('set synchronous_commit = off').then(() => {}),
  })
}
