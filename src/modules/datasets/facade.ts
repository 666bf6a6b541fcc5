import type { CoreServices } from '../../core/core-services.ts'
import { createDatasets } from './dataset.service.ts'
import { createEpisodeStore } from './episode.store.ts'
import { type AppendEpisodeNote, createEpisodeMarks } from './episode-marks.service.ts'

/** Creates the services of recorded datasets and their episodes. */
export const createDatasetServices = (
  core: CoreServices,
  { appendNote }: { appendNote: AppendEpisodeNote },
) => ({
  datasets: createDatasets(core),
  episodeStore: createEpisodeStore(core),
  episodeMarks: createEpisodeMarks({ ...core, appendNote }),
})
