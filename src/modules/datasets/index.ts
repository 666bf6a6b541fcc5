export { datasetEndpoints } from './dataset.routes.ts'
export type { EpisodeStore, ReportedEpisode } from './episode.store.ts'
export { createDatasetServices, type DatasetServices } from './facade.ts'
