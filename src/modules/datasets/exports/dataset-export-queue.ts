import { z } from 'zod'
import { cronQueue } from '../../../core/jobs/cron-queue.ts'
import type { Queue } from '../../../core/jobs/queue.ts'

const DatasetExportJob = z.strictObject({ exportId: z.uuid() })
export type DatasetExportJob = z.infer<typeof DatasetExportJob>

/** The queue of datasets to export. An attempt continues after the last stored part of the one before. */
export const DATASET_EXPORTS: Queue<DatasetExportJob> = {
  name: 'dataset-exports',
  description: 'Exports recorded episodes as a dataset',
  data: DatasetExportJob,
  order: 'any',
  concurrency: 1,
  pollMs: 5_000,
  retry: { limit: 9, delaySeconds: 5, maxDelaySeconds: 300 },
  expireSeconds: 86_400,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
}

export const DATASET_EXPORT_CLEAN_UP = cronQueue(
  'dataset-export-clean-up',
  '*/10 * * * *',
  'Removes the files of deleted datasets, and fails exports of datasets without a job',
)
