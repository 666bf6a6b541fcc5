import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { DEAD_LETTERS } from '../../core/jobs/queue-settings.ts'
import type { JobState, JobView, ListJobs } from './job.schema.ts'

const MAX_ERROR_LENGTH = 500

/** The states of pg-boss. Jobs whose retries are exhausted wait in the queue of dead letters. */
const ENGINE_STATES = { failed: 'created', retrying: 'retry', running: 'active', waiting: 'created' } as const

interface Row {
  readonly id: string
  readonly queue: string
  readonly data: unknown
  readonly retry_count: number
  readonly error: string | null
  readonly created_on: Date
  readonly started_on: Date | null
  readonly failed_on: Date | null
  readonly start_after: Date
  readonly done: number | null
  readonly total: number | null
  readonly cursor: string
}

/** Lists jobs in a state, newest first. Reads at most a page of every queue from an index. */
export async function listJobs(
  db: Db,
  { queues, state, queue, before, limit }: ListJobs & { queues: readonly string[] },
): Promise<{ jobs: JobView[]; next: string | null }> {
  const [micros, lastId] = before?.split('.') ?? []
  const failed = state === 'failed'
  const names = failed ? [DEAD_LETTERS] : queues.filter((name) => queue === undefined || name === queue)
  const after = sql`(timestamptz 'epoch' + ${micros}::bigint * interval '1 microsecond', ${lastId}::uuid)`
  const { rows } = await sql<Row>`
    select job.id, coalesce(job.source_name, job.name) as queue, data,
      coalesce(job.source_retry_count, job.retry_count) as retry_count,
      coalesce(last.output #>> '{message}', last.output #>> '{value,message}') as error,
      coalesce(job.source_created_on, job.created_on) as created_on, job.started_on,
      case when ${failed} then job.created_on end as failed_on, job.start_after,
      job_progress.done, job_progress.total,
      (extract(epoch from job.created_on) * 1000000)::bigint || '.' || job.id as cursor
    from unnest(${names}::text[]) as wanted, lateral (
      select * from pgboss.job
      where job.name = wanted and job.state = ${sql.lit(ENGINE_STATES[state])} and job.state < 'completed'
        ${before === undefined ? sql`` : sql`and (job.created_on, job.id) < ${after}`}
        ${failed && queue !== undefined ? sql`and job.source_name = ${queue}` : sql``}
      order by job.created_on desc, job.id desc limit ${limit + 1}
    ) as job
    cross join lateral (select coalesce(job.source_output, job.output) as output) as last
    left join job_progress on job_progress.job_id = coalesce(job.source_id, job.id)
    order by job.created_on desc, job.id desc limit ${limit + 1}`.execute(db)
  const page = rows.slice(0, limit)
  return {
    jobs: page.map((row) => jobView(state, row)),
    next: rows.length > limit ? (page.at(-1)?.cursor ?? null) : null,
  }
}

function jobView(state: JobState, row: Row): JobView {
  const due = state === 'waiting' || state === 'retrying'
  return {
    id: row.id,
    queue: row.queue,
    state,
    data: typeof row.data === 'object' && row.data !== null ? { ...row.data } : {},
    attempts: state === 'waiting' ? 0 : row.retry_count + 1,
    error: row.error?.slice(0, MAX_ERROR_LENGTH).toWellFormed() ?? null,
    created_at: iso(row.created_on),
    started_at: iso(row.started_on),
    failed_at: iso(row.failed_on),
    next_attempt_at: due ? iso(row.start_after) : null,
    progress: row.done === null || row.total === null ? null : { done: row.done, total: row.total },
  }
}
