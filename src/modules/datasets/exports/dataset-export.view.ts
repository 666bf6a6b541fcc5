import type { Selectable } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import type { DatasetExportView } from './dataset-export.schema.ts'

export type DatasetExportRow = Selectable<Tables['dataset_exports']>
/** The columns that the view needs. The others can be large. */
export const VIEW_COLUMNS = [
  'id',
  'user_id',
  'name',
  'format',
  'version',
  'status',
  'progress',
  'fps',
  'episodes',
  'frames',
  'size_bytes',
  'gaps',
  'alignment',
  'align',
  'left_out',
  'error',
  'created_at',
  'finished_at',
] as const

/** Returns the path of a dataset, as on the Hugging Face Hub. */
const datasetPath = (userId: string, name: string): string => `/datasets/${userId}/${name}`

export const datasetExportView = (
  row: Pick<DatasetExportRow, (typeof VIEW_COLUMNS)[number]>,
): DatasetExportView => ({
  id: row.id,
  name: row.name,
  format: row.format,
  version: row.version,
  status: row.status,
  progress: row.progress,
  fps: row.fps,
  episodes: row.episodes,
  frames: row.frames,
  size_bytes: row.size_bytes,
  base_url: `${datasetPath(row.user_id, row.name)}/resolve/main`,
  gaps: row.gaps,
  alignment: row.alignment,
  align: row.align,
  left_out: row.left_out,
  error: row.error,
  created_at: iso(row.created_at),
  finished_at: iso(row.finished_at),
})
