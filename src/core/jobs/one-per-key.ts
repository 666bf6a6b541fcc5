import { sql, type Transaction } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { NewJob } from './queue.ts'

interface UnfinishedJob {
  readonly id: string
  readonly key: string
  /** Whether it waits for its first attempt. */
  readonly waiting: boolean
  readonly start_at: Date
}

/**
 * Returns those of the new jobs of a queue whose key has no unfinished job. A waiting job of the others starts earlier if
 * the new one would; a job that failed keeps the time of its retry. The caller's lock keeps other transactions from
 * creating jobs of the same keys; locking the job keeps it from being cancelled at this moment.
 */
export async function mergeIntoUnfinished(
  trx: Transaction<Tables>,
  name: string,
  jobs: readonly NewJob[],
): Promise<NewJob[]> {
  const newJobs = earliestPerKey(jobs)
  const unfinished = Map.groupBy(await lockUnfinished(trx, name, [...newJobs.keys()]), ({ key }) => key)
  for (const [key, job] of newJobs) {
    const later = unfinished.get(key)?.find(({ waiting, start_at }) => waiting && start_at > startOf(job))
    if (later) await startEarlier(trx, later, job)
  }
  return [...newJobs].filter(([key]) => !unfinished.has(key)).map(([, job]) => job)
}

const startOf = ({ startAt }: NewJob): Date => startAt ?? new Date(0)

function earliestPerKey(jobs: readonly NewJob[]): ReadonlyMap<string, NewJob> {
  const newJobs = new Map<string, NewJob>()
  for (const job of jobs) {
    if (job.key === undefined) throw new Error(`A job of the queue ${job.queue.name} has no key`)
    const known = newJobs.get(job.key)
    if (!known || startOf(job) < startOf(known)) newJobs.set(job.key, job)
  }
  return newJobs
}

/** Locks and returns the unfinished jobs of keys. The conditions on the state are those of two indexes of pg-boss. */
async function lockUnfinished(
  trx: Transaction<Tables>,
  name: string,
  keys: readonly string[],
): Promise<UnfinishedJob[]> {
  const { rows } = await sql<UnfinishedJob>`
    select id, singleton_key as key, state = 'created' as waiting, start_after as start_at from pgboss.job
    where name = ${name} and singleton_key = any(${sql.val(keys)}::text[]) and policy = 'key_strict_fifo'
      and ((state < 'active' and not blocked) or state = 'active')
    order by singleton_key, created_on, id
    for no key update`.execute(trx)
  return rows
}

/** Sets the earlier start of a waiting job, and the group that it belongs to by now. */
const startEarlier = (trx: Transaction<Tables>, { id }: UnfinishedJob, { queue, startAt, group }: NewJob) =>
  sql`
    update pgboss.job set
      start_after = start.at,
      keep_until = keep_until - (start_after - start.at),
      group_id = ${group ?? null}
    from (select coalesce(${startAt ?? null}::timestamptz, pgboss.job_now()) as at) as start
    where name = ${queue.name} and id = ${id}`.execute(trx)
