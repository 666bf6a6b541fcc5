export type { EpisodeStore, ReportedEpisode } from './episode.store.ts'
export { hubPages } from './exports/hub-pages.ts'
export { createDatasetServices, datasetEndpoints } from './facade.ts'
export { connectRecording } from './recorded-episodes.ts'
