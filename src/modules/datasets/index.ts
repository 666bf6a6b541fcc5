export { datasetEndpoints } from './dataset.routes.ts'
export type { EpisodeStore, ReportedEpisode } from './episode.store.ts'
export { createDatasetServices } from './facade.ts'
export { connectRecording } from './recorded-episodes.ts'
