import type { CoreServices } from '../../core/core-services.ts'
import { createDatasets } from './dataset.service.ts'
import { createEpisodeStore } from './episode.store.ts'

/** Creates the services of recorded datasets and their episodes. */
export const createDatasetServices = (core: CoreServices) => ({
  datasets: createDatasets(core),
  episodeStore: createEpisodeStore(core),
})
