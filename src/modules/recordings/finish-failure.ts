import type { Kysely } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'
import { type Attempt, ClaimLostError } from '../../core/jobs/queue.ts'
import { StorageUnavailableError } from '../../core/storage/object-store.ts'
import type { RecordingJob } from './finish-queue.ts'

/** Failed attempts after which a recording is FAILED: about twenty minutes, with the delays of the queue. */
const ATTEMPTS_BEFORE_FAILED = 10
const MAX_ERROR_LENGTH = 500

/**
 * Marks a recording FAILED whose finishing has failed repeatedly, unless only the storage is unavailable or the attempt was
 * stopped. Its segments stay readable, and the job goes on: a later attempt can still make the recording READY.
 */
export async function markFailed(
  db: Kysely<Tables>,
  { data, number, signal }: Pick<Attempt<RecordingJob>, 'data' | 'number' | 'signal'>,
  cause: unknown,
): Promise<void> {
  const isExpected = cause instanceof StorageUnavailableError || cause instanceof ClaimLostError
  if (number < ATTEMPTS_BEFORE_FAILED || signal.aborted || isExpected) return
  const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_ERROR_LENGTH)
  await db
    .updateTable('recordings')
    .set({ status: 'FAILED', error })
    .where('id', '=', data.recordingId)
    .where('status', '=', 'FINISHING')
    .execute()
}
