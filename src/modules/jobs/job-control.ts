import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { inTransaction } from '../../core/jobs/boss.ts'
import { DEAD_LETTERS } from '../../core/jobs/queue-settings.ts'
import type { JobReceipt } from './job.schema.ts'

interface Job {
  readonly id: string
  /** The queue that runs the job. */
  readonly queue: string
  /** Whether its retries are exhausted. */
  readonly failed: boolean
  readonly running: boolean
}

/** Creates the operations by which admins retry and discard jobs. */
export function createJobControl(deps: Pick<CoreServices, 'jobs' | 'bus' | 'transact' | 'now'>) {
  const { jobs, bus, transact, now } = deps

  /** Changes an unfinished job and records it in the audit log, in one transaction. */
  async function change(
    change: {
      actorId: string
      credential: string | undefined
      id: string
      action: 'job.retried' | 'job.discarded'
    },
    work: (tx: Tx, job: Job) => Promise<unknown>,
  ): Promise<Job> {
    const { actorId, credential, id, action } = change
    await jobs.engine() // opens it outside of the transaction
    return await transact(async (tx) => {
      const job = await lockJob(tx.db, id)
      if (!job)
        throw conflict('job_gone', 'The job does not exist any more: it has finished, or was discarded.')
      await work(tx, job)
      const subject = ['job', id] as const
      await audit(tx, { at: now(), actorId, credential, action, subject, data: { queue: job.queue } })
      return job
    })
  }

  const undiscardable = (queue: string): boolean =>
    jobs.queues().some(({ name, undiscardable: kept = false }) => name === queue && kept)

  return {
    /** Makes a job due now. A job whose retries are exhausted goes back to its queue, under another id. */
    async retry(actorId: string, id: string, credential?: string): Promise<JobReceipt> {
      const boss = await jobs.engine()
      const { queue } = await change({ actorId, credential, id, action: 'job.retried' }, async (tx, job) => {
        if (job.running)
          throw conflict('job_running', 'The job is running. Wait until the attempt has ended.')
        const within = { db: inTransaction(tx.db) }
        if (!job.failed) await boss.update(job.queue, undefined, { id, startAfter: '0', ...within })
        else if ((await boss.redrive(DEAD_LETTERS, { ids: [id], ...within })) === 0)
          throw conflict('job_gone', `The platform has no queue ${job.queue} any more. Discard the job.`)
      })
      bus.publish('jobs.created', { queues: [queue] })
      return { id, queue }
    },

    /** Removes a job. A running attempt is aborted; what it has done so far stays. */
    async discard(actorId: string, id: string, credential?: string): Promise<JobReceipt> {
      const boss = await jobs.engine()
      const { queue } = await change(
        { actorId, credential, id, action: 'job.discarded' },
        async (tx, job) => {
          if (undiscardable(job.queue))
            throw conflict(
              'job_required',
              'Money waits for the result of this job. Repair the cause of its error, then retry it.',
            )
          const within = { db: inTransaction(tx.db) }
          if (job.failed) await boss.deleteJob(DEAD_LETTERS, id, within)
          else await boss.cancel(job.queue, id, within)
        },
      )
      bus.publish('jobs.cancelled', { jobIds: [id] })
      return { id, queue }
    },
  }
}
export type JobControl = ReturnType<typeof createJobControl>

/** Returns an unfinished job, locked until the transaction ends, so that no process starts or ends it in between. */
async function lockJob(db: Db, id: string): Promise<Job | undefined> {
  const { rows } = await sql<Job>`
    select id, coalesce(source_name, name) as queue, name = ${DEAD_LETTERS} as failed, state = 'active' as running
    from pgboss.job
    where id = ${id} and name in (select name from pgboss.queue) and state < 'completed'
    for no key update`.execute(db)
  return rows[0]
}
