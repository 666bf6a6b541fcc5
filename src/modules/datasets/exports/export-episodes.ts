import type { Db } from '../../../core/database/tables.ts'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { wholeScope } from '../../../core/permissions/authorization.ts'
import { MAX_MISSING_SECONDS } from '../exportable-episodes.ts'
import type { GapCounts } from '../lerobot/dataset-card.ts'
import type { EpisodeInput } from '../lerobot/dataset-input.ts'
import type { DatasetExportRow } from './dataset-export.view.ts'
import { commonCameras, readExportedEpisodes, type SelectedEpisode } from './episode-selection.ts'

/** LeRobot needs a text for each task. */
const NO_TASK = 'No task was given'

/** The episodes of an export as its job reads them. */
export interface ExportedEpisodes {
  readonly episodes: readonly EpisodeInput[]
  readonly cameras: readonly string[]
  readonly tasks: readonly string[]
  readonly robotType: string
  readonly gaps: GapCounts
}

/** Returns the periods of a recording that become episodes. */
function periodsOf(row: SelectedEpisode, gaps: DatasetExportRow['gaps']): SelectedEpisode['stored_periods'] {
  const isCut = gaps === 'cut' && row.missing_seconds > MAX_MISSING_SECONDS
  return isCut ? row.stored_periods : [[row.started_at.getTime(), row.ended_at.getTime()]]
}

/**
 * Reads the episodes of an export, in its order.
 * @throws ExportProblem when an episode or a recording was deleted since the request
 */
export async function loadEpisodes(
  db: Db,
  { user_id: organizationId, episode_ids: ids, cameras, gaps }: DatasetExportRow,
): Promise<ExportedEpisodes> {
  const rows = await readExportedEpisodes(db, wholeScope(organizationId), ids, cameras)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const tasks = new Map<string, number>()
  const periods = ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row)
      throw new ExportProblem(`The episode ${id} was discarded during the export. Export the others again.`)
    if (row.file_key === null || row.size_bytes === null)
      throw new ExportProblem(
        `The recording of the episode ${id} was deleted during the export. Export the others again.`,
      )
    const task = row.task ?? NO_TASK
    if (!tasks.has(task)) tasks.set(task, tasks.size)
    const content = { id, task, taskIndex: tasks.get(task) ?? 0 }
    const recording = { key: row.file_key, sizeBytes: row.size_bytes }
    return periodsOf(row, gaps).map(([startMs, endMs]) => {
      const success = endMs === row.ended_at.getTime() ? row.success : null
      return { ...content, recording, success, startMs, endMs }
    })
  })
  const lacking = rows.filter(({ missing_seconds: seconds }) => seconds > 0)
  const episodes = periods.map((episode, index): EpisodeInput => ({ ...episode, index }))
  return {
    episodes,
    cameras: cameras ?? commonCameras(rows),
    tasks: [...tasks.keys()],
    robotType: rows[0]?.robot_type ?? '',
    gaps: {
      episodes: lacking.length,
      seconds: lacking.reduce((sum, { missing_seconds: seconds }) => sum + seconds, 0),
      isCut: gaps === 'cut',
    },
  }
}
