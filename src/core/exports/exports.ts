import { type Kysely, type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { CoreServices } from '../core-services.ts'
import type { Db } from '../database/tables.ts'
import { conflict, notFound } from '../errors/errors.ts'
import type { Tx } from '../events/transactor.ts'
import { type Attempt, ClaimLostError, type Queue } from '../jobs/queue.ts'
import { ExportProblem } from './export-problem.ts'

/** The status of an export that a job writes. */
export const StoredExportStatus = z
  .enum(['PENDING', 'RUNNING', 'READY', 'FAILED'])
  .meta({ id: 'StoredExportStatus', examples: ['READY'] })

// An export is a row that its user sees, and a job that writes its content. Rows and jobs are created and completed together.
// What the content is, and where it is stored, is the business of the module that has the table.

const ABANDONED_PER_RUN = 100
const MAX_ERROR_LENGTH = 1_000

const ExportJob = z.strictObject({ exportId: z.uuid() })
export type ExportJob = z.infer<typeof ExportJob>

/** Returns the queue of a kind of export. An attempt continues after the last part that one before has stored. */
export const exportQueue = (
  settings: Pick<Queue<ExportJob>, 'name' | 'description' | 'concurrency' | 'retry' | 'expireSeconds'>,
): Queue<ExportJob> => ({
  ...settings,
  data: ExportJob,
  order: 'any',
  pollMs: 5_000,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
})

/** The common columns of the tables of exports. */
interface ExportRow {
  readonly id: string
  readonly user_id: string
  readonly status: 'PENDING' | 'RUNNING' | 'READY' | 'FAILED'
  readonly error: string | null
  readonly finished_at: Date | null
}

export interface ExportKind<Row> {
  readonly table: 'session_exports' | 'dataset_exports' | 'data_exports'
  readonly queue: Queue<ExportJob>
  /** How many exports a user may have, and what the answer is to one more. */
  readonly stored: {
    readonly max: number
    readonly message: string
    readonly where?: () => RawBuilder<boolean>
  }
  readonly unfinished: { readonly max: number; readonly message: string }
  /** The error of an export whose job has given up. */
  readonly gaveUp: string
  /** The columns of the notification. Others can be large. */
  readonly columns: readonly (keyof Row & string)[]
  /** Notifies the user of an export about its failure. */
  readonly notifyFailed: (tx: Tx, at: Date, row: Row) => Promise<void>
}

/** Creates what all kinds of exports have in common: the limits of a user, the end without a result, deletion. */
export function createExports<Row>(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'>,
  { table: tableName, queue, stored, unfinished, gaveUp, columns, notifyFailed }: ExportKind<Row>,
) {
  const { transact, now } = deps
  // The query builder cannot type a table that is a parameter. This table represents all.
  const table = tableName as unknown as 'exports'
  const exportsOf = (db: Db) => db as unknown as Kysely<{ exports: ExportRow }>

  /** Marks an export as failed, unless it is finished or deleted. Returns whether it did. */
  const fail = (exportId: string, error: string): Promise<boolean> =>
    transact(async (tx) => {
      const row = await exportsOf(tx.db)
        .updateTable(table)
        .set({ status: 'FAILED', error: error.slice(0, MAX_ERROR_LENGTH), finished_at: now() })
        .where('id', '=', exportId)
        .where('status', 'in', ['PENDING', 'RUNNING'])
        .returning(columns as readonly (keyof ExportRow)[])
        .executeTakeFirst()
      if (row) await notifyFailed(tx, now(), row as unknown as Row)
      return row !== undefined
    })

  return {
    /**
     * Checks the limits of a user. The lock orders concurrent requests of a user, so that none passes a limit.
     * @throws conflict `export_limit_reached`
     */
    async requireCapacity(tx: Tx, userId: string): Promise<void> {
      await tx.db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
      const rows = await exportsOf(tx.db)
        .selectFrom(table)
        .select('status')
        .where('user_id', '=', userId)
        .where(stored.where?.() ?? sql<boolean>`true`)
        .execute()
      if (rows.length >= stored.max) throw conflict('export_limit_reached', stored.message)
      const running = rows.filter(({ status }) => status === 'PENDING' || status === 'RUNNING')
      if (running.length >= unfinished.max) throw conflict('export_limit_reached', unfinished.message)
    },

    /**
     * Returns the handler of the queue. An export fails with an `ExportProblem`, and after the last attempt.
     * @param write writes the export until it is ready; continues after an earlier attempt
     * @param onFailed deletes what no user can read any more
     */
    handler:
      (
        write: (attempt: Attempt<ExportJob>) => Promise<void>,
        onFailed: (exportId: string) => Promise<void> = async () => {},
      ) =>
      async (attempt: Attempt<ExportJob>): Promise<void> => {
        const { exportId } = attempt.data
        const end = async (error: string) => {
          if (await fail(exportId, error)) await onFailed(exportId)
        }
        try {
          await write(attempt)
        } catch (cause) {
          if (cause instanceof ExportProblem) return await end(cause.message)
          const isFinal = attempt.number > (queue.retry.limit as number)
          if (isFinal && !(cause instanceof ClaimLostError)) await end(gaveUp)
          throw cause
        }
      },

    /**
     * Marks exports as failed whose job will not run again: an admin has discarded it, or its process ended during the last
     * attempt, which therefore could not mark the export.
     */
    failAbandoned: (): Promise<void> =>
      transact(async (tx) => {
        const name = sql.table(tableName)
        const { rows } = await sql<Row>`
          with unfinished as (
            select id::text from ${name} where status in ('PENDING', 'RUNNING')
          ), abandoned as (
            select id from unfinished
            except
            select data ->> 'exportId' from pgboss.job
            where name = ${queue.name} and state < 'completed'
            limit ${ABANDONED_PER_RUN}
          )
          update ${name} set status = 'FAILED', error = ${gaveUp}, finished_at = ${now()}
          where id in (select id::uuid from abandoned) and status in ('PENDING', 'RUNNING')
          returning ${sql.join(columns.map((column) => sql.ref(column)))}`.execute(tx.db)
        for (const row of rows) await notifyFailed(tx, now(), row)
      }),

    /**
     * Deletes an export of a user. Its job, if it is running, ends at its next part.
     * @throws notFound
     */
    async remove(userId: string, id: string): Promise<void> {
      const { numDeletedRows } = await exportsOf(deps.db)
        .deleteFrom(table)
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw notFound('Export')
    },
  }
}
export type Exports = ReturnType<typeof createExports>

/** The error of an attempt whose export was deleted, or whose job another process runs. */
export const exportClaimLost = () =>
  new ClaimLostError('The export was deleted, or another process writes it')
