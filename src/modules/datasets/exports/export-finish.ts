import { createHash } from 'node:crypto'
import type { CoreServices } from '../../../core/core-services.ts'
import { type ExportJob, exportClaimLost } from '../../../core/exports/exports.ts'
import type { Attempt } from '../../../core/jobs/queue.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'
import { datasetCard, type GapCounts } from '../lerobot/dataset-card.ts'
import { type DatasetTotals, datasetInfo, datasetStats } from '../lerobot/dataset-info.ts'
import type { DatasetPlan } from '../lerobot/dataset-plan.ts'
import { type DatasetFile, openDatasetFile, storeDatasetFile } from '../lerobot/stored-file.ts'
import { writeTasks } from '../lerobot/tasks-file.ts'
import { notifyAboutDataset } from './dataset-export.service.ts'
import type { DatasetExportRow } from './dataset-export.view.ts'
import type { DatasetObjects } from './dataset-objects.ts'

const COMMIT_DIGITS = 40

/** A finished export, except for the files that describe the whole dataset. */
export interface WrittenDataset {
  readonly row: DatasetExportRow
  readonly plan: DatasetPlan
  readonly totals: DatasetTotals
  readonly gaps: GapCounts
  readonly keyPrefix: string
}

async function writeDescriptions(
  storage: ObjectStore,
  { row, plan, totals, gaps, keyPrefix }: WrittenDataset,
): Promise<DatasetFile[]> {
  const { name, version, state, left_out: leftOut } = row
  const texts = {
    'meta/info.json': JSON.stringify(datasetInfo(plan, totals), undefined, 4),
    'meta/stats.json': JSON.stringify(datasetStats(plan, state.stats), undefined, 4),
    'README.md': datasetCard({ name, version, plan, totals, counts: state.counts, gaps, leftOut }),
  }
  const files: DatasetFile[] = []
  for (const [path, text] of Object.entries(texts))
    files.push(await storeDatasetFile(storage, { path, key: `${keyPrefix}/${path}` }, text))
  const path = 'meta/tasks.parquet'
  const tasks = await openDatasetFile(storage, path, `${keyPrefix}/${path}`)
  await writeTasks(tasks, totals.tasks)
  files.push(await tasks.complete())
  return files
}

/** Returns the digits that identify the content of a dataset. */
function commitOf(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256} ${path}\n`).sort()
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, COMMIT_DIGITS)
}

/**
 * Creates the end of exports: writes the files that describe the dataset, then makes the version READY in one transaction, which
 * removes the finished versions below it. A lower version that still runs finishes too, and stays until the next version above it
 * is READY.
 */
export function createExportFinish(
  deps: Pick<CoreServices, 'transact' | 'now' | 'report'> & {
    storage: ObjectStore
    objects: DatasetObjects
  },
) {
  const { transact, now, report, storage, objects } = deps
  return async (attempt: Attempt<ExportJob>, dataset: WrittenDataset): Promise<void> => {
    const { row } = dataset
    const added = await writeDescriptions(storage, dataset)
    const replaced = await transact(async (tx) => {
      await tx.db
        .insertInto('dataset_export_files')
        .values(added.map(fileRow(row.id)))
        .execute()
      const files = await tx.db
        .selectFrom('dataset_export_files')
        .select(['path', 'sha256', 'size_bytes'])
        .where('export_id', '=', row.id)
        .execute()
      const at = now()
      const finished = await tx.db
        .updateTable('dataset_exports')
        .set({
          status: 'READY',
          progress: 1,
          size_bytes: files.reduce((sum, file) => sum + file.size_bytes, 0),
          commit_sha: commitOf(files),
          finished_at: at,
        })
        .where('id', '=', row.id)
        .where('status', '=', 'RUNNING')
        .returning(['id', 'user_id', 'name', 'version'])
        .executeTakeFirst()
      if (!finished) throw exportClaimLost()
      const earlier = await tx.db
        .deleteFrom('dataset_exports')
        .where('user_id', '=', row.user_id)
        .where('name', '=', row.name)
        .where('version', '<', row.version)
        .where('status', 'in', ['READY', 'FAILED'])
        .returning('id')
        .execute()
      await notifyAboutDataset(tx, at, finished, 'dataset_export.ready')
      await attempt.complete(tx)
      return earlier.map(({ id }) => id)
    })
    await objects.removeAll(replaced).catch(report) // the clean-up deletes the rest
  }
}
export type FinishExport = ReturnType<typeof createExportFinish>

/** Returns the function that makes the row of a file. */
export const fileRow = (exportId: string) => (file: DatasetFile) => ({
  export_id: exportId,
  path: file.path,
  object_key: file.key,
  size_bytes: file.sizeBytes,
  sha256: file.sha256,
})
