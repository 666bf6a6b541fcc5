import type { Db } from '../../../core/database/tables.ts'
import type { EpisodeInput } from '../lerobot/dataset-input.ts'
import { ExportProblem } from '../lerobot/export-problem.ts'
import type { DatasetExportRow } from './dataset-export.view.ts'
import { commonCameras, readExportedEpisodes } from './episode-selection.ts'

/** LeRobot needs a text for each task. */
const NO_TASK = 'No task was given'

/** The episodes of an export as its job reads them. */
export interface ExportedEpisodes {
  readonly episodes: readonly EpisodeInput[]
  readonly cameras: readonly string[]
  readonly tasks: readonly string[]
  readonly robotType: string
}

/**
 * Reads the episodes of an export, in its order.
 * @throws ExportProblem when an episode or a recording was deleted since the request
 */
export async function loadEpisodes(
  db: Db,
  { user_id: userId, episode_ids: ids, cameras }: DatasetExportRow,
): Promise<ExportedEpisodes> {
  const rows = await readExportedEpisodes(db, userId, ids)
  const byId = new Map(rows.map((row) => [row.id, row]))
  const tasks = new Map<string, number>()
  const episodes = ids.map((id, index): EpisodeInput => {
    const row = byId.get(id)
    if (!row)
      throw new ExportProblem(`The episode ${id} was discarded during the export. Export the others again.`)
    if (row.file_key === null || row.size_bytes === null)
      throw new ExportProblem(
        `The recording of the episode ${id} was deleted during the export. Export the others again.`,
      )
    const task = row.task ?? NO_TASK
    if (!tasks.has(task)) tasks.set(task, tasks.size)
    return {
      id,
      index,
      task,
      taskIndex: tasks.get(task) ?? 0,
      isSuccess: row.success === true,
      startMs: row.started_at.getTime(),
      endMs: row.ended_at.getTime(),
      recording: { key: row.file_key, sizeBytes: row.size_bytes },
    }
  })
  return {
    episodes,
    cameras: cameras ?? commonCameras(rows),
    tasks: [...tasks.keys()],
    robotType: rows[0]?.robot_type ?? '',
  }
}
