import { sql, type Transaction } from 'kysely'
import type { PgBoss } from 'pg-boss'
import type { Tables } from '../database/tables.ts'
import { inTransaction } from './boss.ts'
import type { NewJob } from './queue.ts'

interface UnfinishedJob {
  readonly id: string
  readonly key: string
  /** Whether it waits for its first attempt. */
  readonly waiting: boolean
  readonly start_at: Date
}

/**
 * Returns those of the new jobs of a queue that have to be created: whose key has no unfinished job, or only one that would
 * start later, which it removes. A job that failed keeps the time of its retry. The caller's lock keeps other transactions
 * from creating jobs of the same keys; locking the job keeps it from being cancelled at this moment.
 */
export async function replaceLater(
  trx: Transaction<Tables>,
  { boss, name, jobs, now }: { boss: PgBoss; name: string; jobs: readonly NewJob[]; now: Date },
): Promise<NewJob[]> {
  const startOf = ({ startAt = now }: NewJob) => startAt
  const newJobs = earliestPerKey(jobs, startOf)
  const unfinished = Map.groupBy(await lockUnfinished(trx, name, [...newJobs.keys()]), ({ key }) => key)
  const created: NewJob[] = []
  for (const [key, job] of newJobs) {
    const existing = unfinished.get(key) ?? []
    if (existing.some(({ waiting, start_at }) => !waiting || start_at <= startOf(job))) continue
    const ids = existing.map(({ id }) => id)
    if (ids.length > 0) await boss.deleteJob(name, ids, { db: inTransaction(trx) })
    created.push(job)
  }
  return created
}

function earliestPerKey(
  jobs: readonly NewJob[],
  startOf: (job: NewJob) => Date,
): ReadonlyMap<string, NewJob> {
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
