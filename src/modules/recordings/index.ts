export { createRecordingServices, recordingsEndpoints } from './facade.ts'
export { fileKey, RECORDINGS_PREFIX, recordingPrefix, segmentKey } from './object-keys.ts'
export { createRecorderNodes, type RecorderNodes } from './recorder-nodes.store.ts'
export type { AppendSessionNote } from './recording-state.ts'
export type {
  NewSegment,
  OpenStreamRequest,
  OpenStreamResult,
  RecordingStreams,
} from './recording-streams.store.ts'
export { watchRecorders } from './watch-recorders.ts'
