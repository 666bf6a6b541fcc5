import { z } from 'zod'

/** The content of the recordings of a robot's sessions: nothing, control and telemetry, or these with the cameras. */
export const RecordingMode = z.enum(['off', 'control', 'video'])
export type RecordingMode = z.infer<typeof RecordingMode>

/** The state of a recording. */
export const RecordingStatus = z.enum(['RECORDING', 'FINISHING', 'READY', 'FAILED'])
export type RecordingStatus = z.infer<typeof RecordingStatus>

/** Why a recording lacks a period. */
export const GapReason = z.enum([
  /** No recorder is running. */
  'no_recorder',
  /** A recorder is running, but the gateway of the robot does not reach it. */
  'recorder_unreachable',
  /** The recorder ended unexpectedly; data that was not stored yet is lost. */
  'recorder_lost',
  /** The gateway or the media role ended unexpectedly; data that it had not sent yet is lost. */
  'source_lost',
  /** The recorder did not keep up with a source. */
  'overload',
  /** Packets of a camera were lost on their way to the media server. Its video continues with the next keyframe. */
  'packets_lost',
  'storage_unavailable',
  'storage_full',
  'quota_exceeded',
  /** A stored segment was missing or damaged when the recording was finished. */
  'segment_damaged',
])
export type GapReason = z.infer<typeof GapReason>

/** Texts that a user interface shows instead of the reason. */
export const gapTexts: Readonly<Record<GapReason, string>> = {
  no_recorder: 'no recorder is running',
  recorder_unreachable: 'the recorder cannot be reached',
  recorder_lost: 'the recorder failed',
  source_lost: 'the gateway or the media server failed',
  overload: 'the recorder did not keep up',
  packets_lost: 'the connection of the camera lost packets',
  storage_unavailable: 'the storage does not respond',
  storage_full: 'the storage is full',
  quota_exceeded: 'the storage quota of the account is used up',
  segment_damaged: 'a part of the recording is damaged',
}

/** Topics of a recording. Each camera has its own topic. */
export const recordingTopics = {
  control: '/control',
  dropped: '/control/dropped',
  telemetry: '/telemetry',
  goal: '/goal',
  autonomy: '/autonomy',
  limits: '/limits',
  latency: '/latency',
  stop: '/stop',
  events: '/events',
  chat: '/chat',
} as const
const CAMERA_TOPIC = '/camera/'

/** Returns the topic of a camera. */
export const cameraTopic = (name: string): string => `${CAMERA_TOPIC}${name}`
/** Returns the camera of a topic; undefined for other topics. */
export const cameraOfTopic = (topic: string): string | undefined =>
  topic.startsWith(CAMERA_TOPIC) ? topic.slice(CAMERA_TOPIC.length) : undefined

/** The action that marks an episode: start it, end it with a result, discard it, or keep the last moments as one. */
export const EpisodeAction = z.enum(['start', 'success', 'failure', 'discard', 'keep'])
export type EpisodeAction = z.infer<typeof EpisodeAction>

/** The side that defined an episode: the robot reported it, or a participant marked it. */
export const EpisodeSource = z.enum(['robot', 'platform'])
export type EpisodeSource = z.infer<typeof EpisodeSource>

/** How many seconds before an action `keep` become an episode, unless it names another number. */
export const KEPT_SECONDS = 30
/** Most seconds that an action `keep` makes an episode of. */
export const MAX_KEPT_SECONDS = 120

/** Longest description of a task, in characters. */
export const EPISODE_TASK_MAX = 500
