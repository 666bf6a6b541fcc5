import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { DEAD_LETTERS } from '../../core/jobs/queue-settings.ts'

/** The largest number of jobs of a queue and state that is counted. */
export const COUNT_LIMIT = 100_000

export interface QueueCounts {
  readonly queue: string
  /** Jobs that are due and wait for a free process. */
  readonly due: number
  /** New jobs that become due later. */
  readonly later: number
  readonly running: number
  /** Jobs whose last attempt failed, and that run again. */
  readonly retrying: number
  /** Jobs whose retries are exhausted. */
  readonly failed: number
  readonly oldest_due_seconds: number
}

/** Counts the unfinished jobs of queues, by the clock of the job engine. Reads a bounded part of an index. */
export async function readQueueCounts(db: Db, queues: readonly string[]): Promise<QueueCounts[]> {
  const limit = sql.lit(COUNT_LIMIT)
  const { rows } = await sql<QueueCounts>`
    select queue, coalesce(due, 0) as due, coalesce(later, 0) as later, coalesce(running, 0) as running,
      coalesce(retrying, 0) as retrying, coalesce(failed, 0) as failed,
      coalesce(extract(epoch from pgboss.job_now() - oldest_due), 0)::float8 as oldest_due_seconds
    from unnest(${queues}::text[]) as queue
    left join lateral (
      select
        count(*) filter (where state = 'created' and start_after <= pgboss.job_now())::int as due,
        count(*) filter (where state = 'created' and start_after > pgboss.job_now())::int as later,
        count(*) filter (where state = 'active')::int as running,
        count(*) filter (where state = 'retry')::int as retrying,
        min(start_after) filter (where state < 'active' and start_after <= pgboss.job_now()) as oldest_due
      from unnest(enum_range(null, 'active'::pgboss.job_state)) as wanted, lateral (
        select state, start_after from pgboss.job
        where job.name = queue and job.state = wanted and job.state < 'completed'
        order by created_on, id limit ${limit}) as job
    ) as unfinished on true
    left join (
      select source_name, count(*)::int as failed from (
        select source_name from pgboss.job
        where name = ${DEAD_LETTERS} and state = 'created' and state < 'completed'
        order by created_on, id limit ${limit}) as letter
      group by source_name
    ) as dead on source_name = queue`.execute(db)
  return rows
}
