import { z } from 'zod'
import { cronQueue } from '../../../core/jobs/cron-queue.ts'
import type { Queue } from '../../../core/jobs/queue.ts'

const ExportJob = z.strictObject({ exportId: z.uuid() })
export type ExportJob = z.infer<typeof ExportJob>

/** Most sessions of one export. */
export const MAX_ROWS = 1_000_000

/** The queue of exports to write. An attempt continues after the last stored chunk of the one before. */
export const SESSION_EXPORTS: Queue<ExportJob> = {
  name: 'session-exports',
  description: 'Writes an export of sessions',
  data: ExportJob,
  order: 'any',
  concurrency: 2,
  pollMs: 5_000,
  retry: { limit: 4, delaySeconds: 5, maxDelaySeconds: 120 },
  expireSeconds: 3_600,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
}

export const EXPORT_CLEAN_UP = cronQueue(
  'session-export-clean-up',
  '*/10 * * * *',
  'Removes expired exports of sessions, and fails those without a job',
)
