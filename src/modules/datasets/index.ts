export { datasetEndpoints } from './dataset.routes.ts'
export { createDatasets } from './dataset.service.ts'
export { createEpisodeStore, type EpisodeStore, type ReportedEpisode } from './episode.store.ts'
