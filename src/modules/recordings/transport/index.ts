export { union } from './gap-list.ts'
export { LatestWins, type ReplaceableMessage } from './latest-wins.ts'
export { type LiveTail, openLiveTail } from './live-tail.ts'
export type { Period } from './record-backlog.ts'
export { createRecordSender, type RecordSender, type RecordWriter } from './record-sender.ts'
export {
  FLAG_BINARY,
  FLAG_KEYFRAME,
  FromRecorder,
  FromSource,
  MAX_RECORD_BYTES,
  RECORDER_PATH,
  type RecordKind,
  readRecords,
  recordKinds,
  type StreamRecord,
} from './record-wire.ts'
export { createRecorderAuthorization } from './recorder-authorization.ts'
export { type RecorderAddress, rendezvous } from './recorder-choice.ts'
export { LINGER_MS } from './sent-stream.ts'
export {
  encodeTailMessage,
  FromReader,
  STATE_TOPICS,
  TAIL_PATH,
  type TailKind,
  type TailMessage,
} from './tail-wire.ts'
export { createUnsentGaps, type UnsentGap, type UnsentGaps } from './unsent-gaps.ts'
