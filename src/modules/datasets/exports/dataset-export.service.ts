import { randomUUID } from 'node:crypto'
import type { CoreServices } from '../../../core/core-services.ts'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import type { CreateDatasetExport, DatasetExportView } from './dataset-export.schema.ts'
import { datasetExportView, VIEW_COLUMNS } from './dataset-export.view.ts'
import { DATASET_EXPORTS } from './dataset-export-queue.ts'
import type { DatasetObjects } from './dataset-objects.ts'
import { selectEpisodes } from './episode-selection.ts'
import { initialState, jsonb } from './export-state.ts'

/** Running dataset exports of one user. */
const MAX_UNFINISHED = 2
/** Stored dataset exports of one user. */
const MAX_STORED = 50

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
    logExport: LogExport
    isStorageFull: IsStorageFull
  },
) {
  const { db, transact, now, report, objects, logExport, isStorageFull } = deps

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
    async create(userId: string, request: CreateDatasetExport): Promise<DatasetExportView> {
      const { episodes, leftOut } = await selectEpisodes(db, userId, request)
      return await transact(async (tx) => {
        const at = now()
        await requireCapacity(tx, userId)
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
            left_out: jsonb(leftOut),
            episode_ids: jsonb(episodes.map(({ id }) => id)),
            state: jsonb(initialState),
            created_at: at,
          })
          .returning(VIEW_COLUMNS)
          .executeTakeFirstOrThrow()
        const recordingIds = [...new Set(episodes.flatMap(({ recording_id: id }) => id ?? []))]
        await logExport(tx, { userId, recordingIds, at })
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
      const { numDeletedRows } = await db
        .deleteFrom('dataset_exports')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw notFound('Export')
      await objects.removeAll([id]).catch(report) // the clean-up deletes the rest
    },
  }
}
export type DatasetExports = ReturnType<typeof createDatasetExports>

/** Checks the limits of a user. The lock orders concurrent requests, so that none passes a limit. */
async function requireCapacity(tx: Tx, userId: string): Promise<void> {
  await tx.db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
  const stored = await tx.db
    .selectFrom('dataset_exports')
    .select('status')
    .where('user_id', '=', userId)
    .execute()
  if (stored.length >= MAX_STORED)
    throw conflict(
      'export_limit_reached',
      `You have ${MAX_STORED} stored datasets, the most possible. Delete one first.`,
    )
  const unfinished = stored.filter(({ status }) => status === 'PENDING' || status === 'RUNNING').length
  if (unfinished >= MAX_UNFINISHED)
    throw conflict(
      'export_limit_reached',
      `${MAX_UNFINISHED} exports of datasets are running, the most possible. Wait for one, or cancel it.`,
    )
}

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
