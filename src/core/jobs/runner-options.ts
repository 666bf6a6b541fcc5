import type { PgBoss } from 'pg-boss'
import type { Db } from '../database/tables.ts'
import type { Log } from '../log.ts'
import type { JobHandler, Queue } from './queue.ts'

/** `lost` means that the claim was lost: the job was cancelled, or another process runs it by now. */
export type JobOutcome = 'completed' | 'failed' | 'lost'

/** Counts a finished attempt. */
export type JobObserver = (queue: string, attempt: { outcome: JobOutcome; ms: number }) => void

export interface JobRunnerOptions {
  readonly engine: () => Promise<PgBoss>
  readonly queue: Queue
  readonly handler: JobHandler<object>
  readonly db: Db
  readonly log: Log
  readonly now: () => Date
  readonly observe: JobObserver
}
