import { sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import type { DatasetExportRow } from './dataset-export.view.ts'
import { DATASET_EXPORTS } from './dataset-export-queue.ts'

const GAVE_UP = 'The platform could not write the dataset. Export it again later.'
const ABANDONED_PER_RUN = 100
const MAX_ERROR_LENGTH = 1_000

/** Notifies the user of an export about its end. */
export const notifyAboutDataset = (
  tx: Tx,
  at: Date,
  row: Pick<DatasetExportRow, 'id' | 'user_id' | 'name' | 'version'>,
  type: 'dataset_export.ready' | 'dataset_export.failed',
): Promise<void> =>
  tx.notify(at, [
    { userId: row.user_id, type, data: { export_id: row.id, name: row.name, version: row.version } },
  ])

/** Creates the operations that end exports without a dataset. */
export function createDatasetExportFailures({ transact, now }: Pick<CoreServices, 'transact' | 'now'>) {
  return {
    /** Marks an export as failed, unless it is finished or deleted. Returns whether it did. */
    fail: (exportId: string, error: string = GAVE_UP): Promise<boolean> =>
      transact(async (tx) => {
        const row = await tx.db
          .updateTable('dataset_exports')
          .set({ status: 'FAILED', error: error.slice(0, MAX_ERROR_LENGTH), finished_at: now() })
          .where('id', '=', exportId)
          .where('status', 'in', ['PENDING', 'RUNNING'])
          .returning(['id', 'user_id', 'name', 'version'])
          .executeTakeFirst()
        if (row) await notifyAboutDataset(tx, now(), row, 'dataset_export.failed')
        return row !== undefined
      }),

    /**
     * Marks exports as failed whose job will not run again, because an admin has discarded it, or its process ended during the
     * last attempt. Exports and their jobs are created and completed together.
     */
    failAbandoned: (): Promise<void> =>
      transact(async (tx) => {
        const { rows } = await sql<Pick<DatasetExportRow, 'id' | 'user_id' | 'name' | 'version'>>`
          with unfinished as (
            select id::text from dataset_exports where status in ('PENDING', 'RUNNING')
          ), abandoned as (
            select id from unfinished
            except
            select data ->> 'exportId' from pgboss.job
            where name = ${DATASET_EXPORTS.name} and state < 'completed'
            limit ${ABANDONED_PER_RUN}
          )
          update dataset_exports set status = 'FAILED', error = ${GAVE_UP}, finished_at = ${now()}
          where id in (select id::uuid from abandoned) and status in ('PENDING', 'RUNNING')
          returning id, user_id, name, version`.execute(tx.db)
        for (const row of rows) await notifyAboutDataset(tx, now(), row, 'dataset_export.failed')
      }),
  }
}
export type DatasetExportFailures = ReturnType<typeof createDatasetExportFailures>
