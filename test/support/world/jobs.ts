import { randomUUID } from 'node:crypto'
import type { Attempt } from '../../../src/core/jobs/queue.ts'
import { query } from '../processes/processes.ts'

/** Returns how many jobs of a queue are being run. */
export async function runningJobs(databaseUrl: string, queue: string): Promise<number> {
  const sql = `select count(*)::int as count from pgboss.job where name = '${queue}' and state = 'active'`
  const [row] = await query(databaseUrl, sql)
  return (row as { count: number }).count
}

/** Makes running jobs look as if their process had ended: their heartbeats stopped long ago. */
export const abandonJobs = (databaseUrl: string): Promise<unknown> =>
  query(
    databaseUrl,
    `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 day' where state = 'active';
     update pgboss.queue set monitor_on = null, monitor_claim_on = null`,
  )

/** Returns the first attempt of a job that a test runs without the job engine. */
export const attemptOf = <Data extends object>(data: Data): Attempt<Data> => ({
  id: randomUUID(),
  data,
  number: 1,
  previous: undefined,
  signal: new AbortController().signal,
  complete: async () => {},
  progress: async () => {},
})
