import type { Db } from '../../../core/database/tables.ts'
import { type Attempt, ClaimLostError } from '../../../core/jobs/queue.ts'
import type { DatasetExportJob } from './dataset-export-queue.ts'

const REPORT_MS = 1_000
/** The progress of a job is a whole number of steps. */
const STEPS = 1_000

/**
 * Stores the progress of an export about once a second. Aborts the attempt when the export is not running any more, because its user
 * deleted it.
 */
export function createExportProgress(
  db: Db,
  attempt: Attempt<DatasetExportJob>,
  report: (cause: unknown) => void,
) {
  const stopped = new AbortController()
  let reportedMs = 0
  let storing: Promise<void> | undefined

  async function store(progress: number): Promise<void> {
    const { numUpdatedRows } = await db
      .updateTable('dataset_exports')
      .set((eb) => ({ progress: eb.fn<number>('greatest', ['progress', eb.val(progress)]) }))
      .where('id', '=', attempt.data.exportId)
      .where('status', '=', 'RUNNING')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) stopped.abort(new ClaimLostError('The export was deleted'))
    else await attempt.progress(Math.round(progress * STEPS), STEPS)
  }

  return {
    signal: AbortSignal.any([attempt.signal, stopped.signal]),
    /** Reports the progress, from 0 to 1. */
    update(progress: number): void {
      const nowMs = performance.now()
      if (storing || nowMs - reportedMs < REPORT_MS) return
      reportedMs = nowMs
      storing = store(Math.min(1, Math.max(0, progress)))
        .catch(report)
        .finally(() => {
          storing = undefined
        })
    },
    /** Waits for the last report. */
    settled: async (): Promise<void> => await storing,
  }
}
