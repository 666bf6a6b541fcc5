export type { EpisodeStore, ReportedEpisode } from './episode.store.ts'
export { hubPages } from './exports/hub-pages.ts'
export { createDatasetServices, datasetEndpoints } from './module.ts'
export { connectRecording } from './recorded-episodes.ts'
