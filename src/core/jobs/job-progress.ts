import { sql } from 'kysely'
import { inBatches } from '../database/in-batches.ts'
import type { Db } from '../database/tables.ts'

const PROGRESS_PER_BATCH = 1_000

/** Stores how far a job is. It belongs to the job's latest attempt. */
export async function storeProgress(
  db: Db,
  { jobId, done, total }: { jobId: string; done: number; total: number },
): Promise<void> {
  await db
    .insertInto('job_progress')
    .values({ job_id: jobId, done, total, updated_at: sql<Date>`now()` })
    .onConflict((oc) => oc.column('job_id').doUpdateSet({ done, total, updated_at: sql<Date>`now()` }))
    .execute()
}

/** Removes the progress of jobs that do not exist any more. */
export async function removeOrphanedProgress(db: Db): Promise<void> {
  await inBatches(PROGRESS_PER_BATCH, async () => {
    const { numAffectedRows } = await sql`
      delete from job_progress where job_id in (
        select job_id from job_progress
        where updated_at < now() - interval '1 hour'
          and not exists (select from pgboss.job where job.id = job_progress.job_id)
        limit ${PROGRESS_PER_BATCH})`.execute(db)
    return Number(numAffectedRows ?? 0)
  })
}
