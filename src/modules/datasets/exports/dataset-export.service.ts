import { randomUUID } from 'node:crypto'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { createExports, type Exports, exportQueue } from '../../../core/exports/exports.ts'
import { cronQueue } from '../../../core/jobs/cron-queue.ts'
import type { Scope } from '../../../core/permissions/authorization.ts'
import type { CreateDatasetExport, DatasetExportView } from './dataset-export.schema.ts'
import { type DatasetExportRow, datasetExportView, VIEW_COLUMNS } from './dataset-export.view.ts'
import type { DatasetObjects } from './dataset-objects.ts'
import { selectEpisodes } from './episode-selection.ts'
import { initialState, jsonb } from './export-state.ts'

/** Running dataset exports of one user. */
const MAX_UNFINISHED = 2
/** Stored dataset exports of one user. */
const MAX_STORED = 50

/** The queue of datasets to export. */
export const DATASET_EXPORTS = exportQueue({
  name: 'dataset-exports',
  description: 'Exports recorded episodes as a dataset',
  concurrency: 1,
  retry: { limit: 9, delaySeconds: 5, maxDelaySeconds: 300 },
  expireSeconds: 86_400,
})

export const DATASET_EXPORT_CLEAN_UP = cronQueue(
  'dataset-export-clean-up',
  '*/10 * * * *',
  'Removes the files of deleted datasets, and fails exports of datasets without a job',
)

type NotifiedExport = Pick<DatasetExportRow, 'id' | 'user_id' | 'name' | 'version'>

/** Notifies the user of an export about its end. */
export const notifyAboutDataset = (
  tx: Tx,
  at: Date,
  row: NotifiedExport,
  type: 'dataset_export.ready' | 'dataset_export.failed',
): Promise<void> =>
  tx.notify(at, [
    {
      organizationId: row.user_id,
      action: 'datasets.write',
      type,
      data: { export_id: row.id, name: row.name, version: row.version },
    },
  ])

/** Creates what exports of datasets have in common with other exports. */
export const createDatasetExportJobs = (core: Pick<CoreServices, 'db' | 'transact' | 'now'>): Exports =>
  createExports<NotifiedExport>(core, {
    table: 'dataset_exports',
    queue: DATASET_EXPORTS,
    stored: {
      max: MAX_STORED,
      message: `You have ${MAX_STORED} stored datasets, the most possible. Delete one first.`,
    },
    unfinished: {
      max: MAX_UNFINISHED,
      message: `${MAX_UNFINISHED} exports of datasets are running, the most possible. Wait for one, or cancel it.`,
    },
    columns: ['id', 'user_id', 'name', 'version'],
    gaveUp: 'The platform could not write the dataset. Export it again later.',
    notifyFailed: (tx, at, row) => notifyAboutDataset(tx, at, row, 'dataset_export.failed'),
  })

/** Stores who uses recordings, for their owners and operators. The module of recordings implements it. */
export type LogExport = (
  tx: Tx,
  use: { readonly userId: string; readonly recordingIds: readonly string[]; readonly at: Date },
) => Promise<void>

/** Returns whether recordings and exports of a user take as much as they may. */
export type IsStorageFull = (db: Db, userId: string) => Promise<boolean>

/** Creates the service of datasets that a job makes. Only their user sees them here. */
export function createDatasetExports(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'report'> & {
    objects: DatasetObjects
    exportJobs: Exports
    logExport: LogExport
    isStorageFull: IsStorageFull
  },
) {
  const { db, transact, now, report, objects, exportJobs, logExport, isStorageFull } = deps

  const selectViews = (userId: string) =>
    db
      .selectFrom('dataset_exports')
      .select(VIEW_COLUMNS)
      .where('user_id', '=', userId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_STORED)

  return {
    /** Creates an export and its job. */
    async create(scope: Scope, request: CreateDatasetExport): Promise<DatasetExportView> {
      const { organizationId: userId, actorId } = scope
      const { episodes, leftOut } = await selectEpisodes(db, scope, request)
      return await transact(async (tx) => {
        const at = now()
        await exportJobs.requireCapacity(tx, userId)
        if (await isStorageFull(tx.db, userId))
          throw conflict(
            'storage_quota_exceeded',
            'Your recordings and exports take as much storage as they may. Delete some first.',
          )
        const row = await tx.db
          .insertInto('dataset_exports')
          .values({
            id: randomUUID(),
            user_id: userId,
            format: request.format,
            name: request.name,
            version: await nextVersion(tx, userId, request.name),
            fps: request.fps,
            cameras: request.cameras ? jsonb(request.cameras) : null,
            ...(request.gaps && { gaps: request.gaps }),
            ...(request.alignment && { alignment: request.alignment }),
            ...(request.align && { align: request.align }),
            left_out: jsonb(leftOut),
            episode_ids: jsonb(episodes.map(({ id }) => id)),
            state: jsonb(initialState),
            created_at: at,
          })
          .returning(VIEW_COLUMNS)
          .executeTakeFirstOrThrow()
        const recordingIds = [...new Set(episodes.flatMap(({ recording_id: id }) => id ?? []))]
        await logExport(tx, { userId: actorId, recordingIds, at })
        tx.enqueue({ queue: DATASET_EXPORTS, data: { exportId: row.id } })
        return datasetExportView(row)
      })
    },

    /** Lists the exports of a user, newest first. */
    list: async (userId: string): Promise<DatasetExportView[]> =>
      (await selectViews(userId).execute()).map(datasetExportView),

    async get(userId: string, id: string): Promise<DatasetExportView> {
      const row = await selectViews(userId).where('id', '=', id).executeTakeFirst()
      if (!row) throw notFound('Export')
      return datasetExportView(row)
    },

    /** Deletes an export with its files. Its job, if it is running, ends shortly after. */
    async remove(userId: string, id: string): Promise<void> {
      await exportJobs.remove(userId, id)
      await objects.removeAll([id]).catch(report) // the clean-up deletes the rest
    },
  }
}
export type DatasetExports = ReturnType<typeof createDatasetExports>

async function nextVersion(tx: Tx, userId: string, name: string): Promise<number> {
  const newest = await tx.db
    .selectFrom('dataset_exports')
    .select('version')
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return (newest?.version ?? 0) + 1
}
