import type { Selectable } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import { BYTES_PER_MB } from '../../core/units.ts'
import type { DatasetView, EpisodeView, NotExportable } from './dataset.schema.ts'

export type DatasetRow = Selectable<Tables['datasets']> & {
  robot_name: string
  robot_type: string
  not_exportable: DatasetView['not_exportable']
}
export type EpisodeRow = Selectable<Tables['episodes']> & { not_exportable: NotExportable | null }

export function datasetView(row: DatasetRow): DatasetView {
  return {
    id: row.id,
    robot_id: row.robot_id,
    robot_name: row.robot_name,
    robot_type: row.robot_type,
    episode_count: row.episode_count,
    exportable_count: row.not_exportable.reduce((left, { count }) => left - count, row.episode_count),
    not_exportable: row.not_exportable,
    size_mb: row.size_bytes / BYTES_PER_MB,
    updated_at: iso(row.updated_at),
  }
}

export function episodeView(row: EpisodeRow): EpisodeView {
  return {
    id: row.id,
    episode_id: row.episode_id,
    session_id: row.session_id,
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
    size_mb: row.size_bytes / BYTES_PER_MB,
    source: row.source,
    task: row.task,
    recording_id: row.recording_id,
    success: row.success,
    not_exportable: row.not_exportable,
    uri: row.uri,
    created_at: iso(row.created_at),
  }
}
