export { union } from './gap-list.ts'
export { LatestWins, type ReplaceableMessage } from './latest-wins.ts'
export { type LiveTail, openLiveTail } from './live-tail.ts'
export { createRecorderAuthorization } from './recorder-authorization.ts'
export { type RecorderAddress, rendezvous } from './recorder-choice.ts'
export type { Period } from './sample-backlog.ts'
export { createSampleSender, type SampleSender, type SampleWriter } from './sample-sender.ts'
export {
  FLAG_BINARY,
  FLAG_KEYFRAME,
  FromRecorder,
  FromSource,
  MAX_SAMPLE_BYTES,
  RECORDER_PATH,
  readSamples,
  type SampleKind,
  type StreamSample,
  sampleKinds,
} from './sample-wire.ts'
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
