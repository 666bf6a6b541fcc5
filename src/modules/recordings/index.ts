export { fileKey, RECORDINGS_PREFIX, recordingPrefix, segmentKey } from './object-keys.ts'
export type {
  AppendSessionNote,
  NewSegment,
  OpenStreamRequest,
  OpenStreamResult,
  RecordingStreams,
} from './recording-streams.store.ts'
export { createRecorderNodes, type RecorderNodes } from './recorder-nodes.store.ts'
