import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Tables } from '../../../core/database/tables.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { SESSION_EXPORTS } from './export-queue.ts'

const GAVE_UP = 'The platform could not write the export. Try again later.'
const ABANDONED_PER_RUN = 100

type Row = Selectable<Tables['session_exports']>

/** Notifies the user of an export about its end. */
export const notifyAbout = (tx: Tx, at: Date, row: Row, type: 'export.ready' | 'export.failed') =>
  tx.notify(at, [
    {
      userId: row.user_id,
      type,
      data: { export_id: row.id, format: row.format, rows: row.rows, bytes: row.bytes },
    },
  ])

/** Creates the operations that end exports without a file. */
export function createExportFailures({ transact, now }: Pick<CoreServices, 'transact' | 'now'>) {
  return {
    /** Marks an export as failed, unless it is finished or deleted. */
    fail: (exportId: string, error: string = GAVE_UP): Promise<void> =>
      transact(async (tx) => {
        const row = await tx.db
          .updateTable('session_exports')
          .set({ status: 'FAILED', error, finished_at: now() })
          .where('id', '=', exportId)
          .where('status', 'in', ['PENDING', 'RUNNING'])
          .returningAll()
          .executeTakeFirst()
        if (row) await notifyAbout(tx, now(), row, 'export.failed')
      }),

    /**
     * Marks exports as failed whose job will not run again: an admin has discarded it, or its process ended during the last
     * attempt, which therefore could not mark the export. Exports and their jobs are created and completed together, so an
     * unfinished export without an unfinished job is abandoned.
     */
    failAbandoned: (): Promise<void> =>
      transact(async (tx) => {
        const { rows } = await sql<Row>`
          with unfinished as (
            select id::text from session_exports where status in ('PENDING', 'RUNNING')
          ), abandoned as (
            select id from unfinished
            except
            select data ->> 'exportId' from pgboss.job
            where name = ${SESSION_EXPORTS.name} and state < 'completed'
            limit ${ABANDONED_PER_RUN}
          )
          update session_exports set status = 'FAILED', error = ${GAVE_UP}, finished_at = ${now()}
          where id in (select id::uuid from abandoned) and status in ('PENDING', 'RUNNING')
          returning *`.execute(tx.db)
        for (const row of rows) await notifyAbout(tx, now(), row, 'export.failed')
      }),
  }
}
export type ExportFailures = ReturnType<typeof createExportFailures>
