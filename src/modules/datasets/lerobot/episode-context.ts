import type { McapFileReader } from '../../recordings/mcap/index.ts'
import type { EpisodeInput } from './dataset-input.ts'
import type { CameraPlan, CameraScans, DatasetPlan, EpisodeLayout } from './dataset-plan.ts'
import type { KeyframeDecoder, VideoCodecs } from './frame-decoder.ts'
import type { PixelStats } from './pixel-stats.ts'
import type { ResamplingCounts } from './resampler.ts'

/** The input for writing one episode. */
export interface EpisodeContext {
  readonly plan: DatasetPlan
  readonly episode: EpisodeInput
  readonly layout: EpisodeLayout
  readonly scans: CameraScans
  /** Opens its recording. Only the newest one stays open. */
  readonly openReader: () => Promise<McapFileReader>
  /** Index of its first row in the dataset. */
  readonly firstIndex: number
  readonly codecs: VideoCodecs | undefined
  /** Decodes keyframes of a camera's video for its statistics; undefined where no decoder is installed. */
  readonly keyframeDecoder: (camera: CameraPlan) => KeyframeDecoder | undefined
  readonly counts: ResamplingCounts
  readonly pixels: ReadonlyMap<string, PixelStats>
  /** Called after each row group, with the number of its rows. */
  readonly progress: (rows: number) => void
}
