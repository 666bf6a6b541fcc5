import type { EpisodeAction, EpisodeSource, RecordingMode, RecordingStatus } from '@wheelhouse/protocol'

// The answers of the REST API of recordings, episodes and exports.

/** A period that a recording lacks. `to` is null while it lasts. */
export interface RecordingGap {
  readonly from: string
  readonly to: string | null
  readonly reason: string
}

interface RecordingChannel {
  readonly topic: string
  readonly schema: string
  readonly messages: number
}

/** An episode of a session. `ended_at` is null while it runs. */
export interface RecordedEpisode {
  readonly id: string
  readonly episode_id: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly success: boolean | null
  readonly task: string | null
  readonly source: EpisodeSource
}

export interface Recording {
  readonly id: string
  readonly session_id: string
  readonly robot_id: string
  readonly robot_name: string
  readonly mode: Exclude<RecordingMode, 'off'>
  readonly status: RecordingStatus
  readonly paused_reason: string | null
  readonly started_at: string
  readonly ended_at: string | null
  readonly expires_at: string | null
  readonly size_bytes: number
  readonly segments: number
  readonly gaps: readonly RecordingGap[]
  readonly channels: readonly RecordingChannel[]
  readonly file_url: string | null
  /** Only recordings that are read with a link contain them. */
  readonly episodes?: readonly RecordedEpisode[]
  readonly operator_name?: string
}

/** A complete MCAP file: the whole recording, or one stored segment. */
export interface RecordingPart {
  readonly url: string
  /** `all`, `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly from: string
  readonly to: string
  readonly size_bytes: number
}

export interface RecordingParts {
  readonly parts: readonly RecordingPart[]
  /** Whether the parts are all there will be. */
  readonly complete: boolean
  /** Whether the oldest parts are left out. */
  readonly truncated: boolean
}

export interface RecordingPage {
  readonly recordings: readonly Recording[]
  readonly next_cursor: string | null
  readonly used_bytes: number
  /** Null without a limit. */
  readonly quota_bytes: number | null
}

export interface Bookmark {
  readonly id: string
  readonly at: string
  readonly label: string
  readonly user_id: string
  readonly user_name: string
}

export interface RecordingShare {
  readonly id: string
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
}

/** A new link. Only this answer contains its address. */
export interface NewShare {
  readonly id: string
  readonly url: string
  readonly expires_at: string
}

export interface RecordingDownload {
  readonly user_id: string | null
  readonly user_name: string | null
  readonly kind: 'file' | 'replay' | 'export' | 'foxglove'
  readonly at: string
  readonly share_id: string | null
}

export interface RunningEpisode {
  readonly started_at: string
  readonly task: string | null
}

/** The episodes of a session, and the one that runs. */
export interface SessionEpisodes {
  readonly running: RunningEpisode | null
  readonly episodes: readonly RecordedEpisode[]
}

export interface MarkEpisode {
  readonly action: EpisodeAction
  readonly task?: string
}

/** The settings of a robot about its recordings. */
export interface RecordingSettings {
  readonly recording: RecordingMode
  /** Null keeps recordings. */
  readonly recording_days: number | null
}

export interface DatasetExport {
  readonly id: string
  readonly name: string
  readonly status: 'PENDING' | 'RUNNING' | 'READY' | 'FAILED'
  /** 0 to 1. */
  readonly progress: number
  readonly fps: number
  readonly episodes: number
  readonly frames: number
  readonly size_bytes: number
  readonly base_url: string | null
  readonly error: string | null
  readonly created_at: string
}
