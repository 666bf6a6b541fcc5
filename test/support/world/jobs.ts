import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Jobs } from '../../../src/core/jobs/jobs.ts'
import type { Attempt, JobHandler, Queue } from '../../../src/core/jobs/queue.ts'
import { ensureQueues } from '../../../src/core/jobs/queue-settings.ts'
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

/** Fails jobs whose process sends no heartbeats any more, so that they run again. The platform does so every ten seconds. */
export const recoverAbandoned = async (jobs: Jobs): Promise<void> => await (await jobs.engine()).supervise()

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

/** Returns a queue without polls, retries and frequent heartbeats: only hints of the platform make its jobs run or end. */
export const quietQueue = (settings: Partial<Queue> & Pick<Queue, 'name'>): Queue => ({
  description: 'A queue of a test',
  data: z.looseObject({}),
  order: 'any',
  concurrency: 4,
  pollMs: 3_600_000,
  retry: { limit: 0, delaySeconds: 3_600, maxDelaySeconds: 3_600 },
  expireSeconds: 3_600,
  heartbeatSeconds: 3_600,
  keepCompletedSeconds: 3_600,
  ...settings,
})

/** Adds a queue to a running platform. Only hints of new jobs start its jobs, because it does not poll. */
export async function addQueue(jobs: Jobs, queue: Queue, handler: JobHandler<object>): Promise<void> {
  jobs.register(queue, handler)
  await ensureQueues(await jobs.engine(), [queue])
  await jobs.start(({ name }) => name === queue.name)
}

/** For an engine that learns of new jobs by its polls only. */
export const noHints = {
  created: { publish: () => {}, subscribe: () => () => {} },
  cancelled: { publish: () => {}, subscribe: () => () => {} },
}
