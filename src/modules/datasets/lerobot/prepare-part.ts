import { createRecordings, periodOf } from './dataset-input.ts'
import { layoutOf } from './dataset-plan.ts'
import type { EpisodeContext } from './episode-context.ts'
import { durationMsOf, scanCameras } from './episode-scan.ts'
import { ExportProblem } from './export-problem.ts'
import type { PartDeps, PartInput } from './part-input.ts'

type PreparedEpisode = Pick<EpisodeContext, 'episode' | 'layout' | 'scans' | 'openReader' | 'firstIndex'>

/** Finds the rows of the episodes. */
export async function preparePart(
  { plan, episodes, firstIndex }: PartInput,
  { store, scansOf }: PartDeps,
): Promise<PreparedEpisode[]> {
  const openRecording = createRecordings(store)
  const cameras = plan.cameras.map(({ name }) => name)
  const prepared: PreparedEpisode[] = []
  let index = firstIndex
  for (const episode of episodes) {
    const openReader = () => openRecording(episode)
    const period = periodOf(episode)
    const scans = scansOf(episode.index) ?? (await scanCameras(await openReader(), period, cameras))
    const layout = layoutOf(scans, durationMsOf(period), plan)
    if (layout.rowTimes.length === 0)
      throw new ExportProblem(
        `The episode ${episode.id} is too short for a row of the dataset. Leave it out, or discard it.`,
      )
    prepared.push({ episode, layout, scans, openReader, firstIndex: index })
    index += layout.rowTimes.length
  }
  return prepared
}
