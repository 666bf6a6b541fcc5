import { z } from 'zod'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import type { Queue } from '../../core/jobs/queue.ts'

const RecordingJob = z.strictObject({ recordingId: z.uuid() })
export type RecordingJob = z.infer<typeof RecordingJob>

/** Merges the segments of a recording into its file. Each attempt writes another object; the first to commit counts. */
export const FINISH_RECORDINGS: Queue<RecordingJob> = {
  name: 'recordings-finish',
  description: 'Merges the segments of a recording into one file',
  data: RecordingJob,
  order: 'any',
  concurrency: 1,
  pollMs: 5_000,
  // The storage may be unavailable for hours; the segments stay stored until then.
  retry: { limit: 'unlimited', delaySeconds: 5, maxDelaySeconds: 300 },
  expireSeconds: 6 * 3_600,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
  undiscardable: true,
}

/** Deletes the objects of a deleted recording from the storage. */
export const DELETE_RECORDINGS: Queue<RecordingJob> = {
  name: 'recordings-delete',
  description: 'Deletes the files of a recording from the storage',
  data: RecordingJob,
  order: 'any',
  concurrency: 2,
  pollMs: 5_000,
  retry: { limit: 'unlimited', delaySeconds: 5, maxDelaySeconds: 3_600 },
  expireSeconds: 3_600,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
  undiscardable: true,
}

export const RECORDING_RETENTION = cronQueue(
  'recording-retention',
  '*/10 * * * *',
  'Deletes recordings whose time has passed',
)

export const RECORDING_ORPHANS = cronQueue(
  'recording-orphans',
  '37 3 * * *',
  'Deletes files that belong to no recording, and links that ended a month ago',
)
