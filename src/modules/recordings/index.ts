export { createRecordingServices, recordingsEndpoints } from './facade.ts'
export { segmentKey } from './object-keys.ts'
export type { RecorderNodes } from './recorder-nodes.store.ts'
export type {
  NewSegment,
  OpenStreamRequest,
  OpenStreamResult,
  RecordingStreams,
} from './recording-streams.store.ts'
export { watchLinks } from './watch-links.ts'
export { watchRecorders } from './watch-recorders.ts'
