import type { EpisodeInput } from './dataset-input.ts'
import type { CameraScans, DatasetPlan } from './dataset-plan.ts'
import type { VideoCodecs } from './frame-decoder.ts'
import type { ResamplingCounts } from './resampler.ts'
import type { MergeableStats } from './running-stats.ts'
import type { DatasetFile, DatasetStore } from './stored-file.ts'

/** Consecutive episodes that share a data file and a video file for each camera. */
export interface PartInput {
  readonly plan: DatasetPlan
  readonly episodes: readonly EpisodeInput[]
  /** Number of its files among the files of their kind. */
  readonly fileNumber: number
  /** Index of its first row in the dataset. */
  readonly firstIndex: number
  /** Prefix of the keys of its objects. */
  readonly keyPrefix: string
}

export interface PartResult {
  readonly files: readonly DatasetFile[]
  readonly rows: number
  readonly stats: Readonly<Record<string, MergeableStats>>
  readonly counts: ResamplingCounts
}

export interface PartDeps {
  readonly store: DatasetStore
  readonly codecs: VideoCodecs | undefined
  /** A folder for temporary files. */
  readonly tempDir: string
  /** Returns the frames of an episode, by its number, from the planning, if they are still known. */
  readonly scansOf: (index: number) => CameraScans | undefined
  /** Called with the part of the work that is done, from 0 to 1. */
  readonly progress: (done: number) => void
}
