import type { CameraScan } from './episode-scan.ts'
import type { FeatureSet } from './features.ts'
import type { FrameFormat } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'
import type { Alignment } from './resampler.ts'
import { evenRows, type FrameRun, firstDecodable, followingRun, leadingRun } from './row-clock.ts'
import type { Align } from './seen-clock.ts'

/** How the dataset stores the pictures of a camera: as recorded (`mux`), transcoded, or as JPEG pictures in the rows (`images`). */
export type CameraMode = 'mux' | 'transcode' | 'images'

export interface CameraPlan {
  readonly name: string
  /** The key of its feature. */
  readonly key: string
  readonly mode: CameraMode
  /** The format in the dataset. */
  readonly format: FrameFormat
  readonly size: PictureSize
}

/** The properties that are the same for all episodes of a dataset. */
export interface DatasetPlan extends FeatureSet {
  readonly fps: number
  readonly alignment: Alignment
  readonly align: Align
  readonly cameras: readonly CameraPlan[]
  /** The camera whose frames are the rows; undefined for rows at even times. */
  readonly leadCamera: string | undefined
  /** The sources of which the features come from messages, because the robot declared no schema. */
  readonly inferred: readonly string[]
  /** Cameras that are not in the dataset, because not all episodes have them. */
  readonly leftOut: readonly string[]
}

export type CameraScans = ReadonlyMap<string, CameraScan>

/** The rows of an episode, and the frames of its cameras. */
export interface EpisodeLayout {
  readonly rowTimes: Float64Array
  /** The frames of cameras that are stored as they are. */
  readonly runs: ReadonlyMap<string, FrameRun>
}

/** Returns the key of a camera's feature. LeRobot allows no `/` in keys. */
export const cameraKey = (name: string): string =>
  `observation.images.${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`

/** How old the picture at the start of an episode may be. */
const MAX_AGE_MS = 1_000

/** Returns when a camera first has a picture from the start of an episode on; infinity without one. */
export function firstPictureMs(scan: CameraScan | undefined): number {
  if (!scan) return Number.POSITIVE_INFINITY
  const shownAtStart = scan.times.findLastIndex((ms) => ms <= 0 && ms >= -MAX_AGE_MS)
  if (shownAtStart >= 0 && scan.keys.lastIndexOf(1, shownAtStart) >= 0) return 0
  return scan.times[firstDecodable(scan, 0)] ?? Number.POSITIVE_INFINITY
}

/** Returns when all cameras have a picture. */
export const startMsOf = (scans: CameraScans, cameras: readonly string[]): number =>
  Math.max(0, ...cameras.map((name) => firstPictureMs(scans.get(name))))

/** Returns the times of the frames of a run. */
export const timesOf = (scan: CameraScan, { first, count }: FrameRun): Float64Array =>
  scan.times.slice(first, first + count)

/**
 * Returns the rows of an episode, from the moment on when all cameras have a picture. With a leading camera, each of its frames is
 * a row. Otherwise, the rows are at even times.
 */
export function layoutOf(
  scans: CameraScans,
  durationMs: number,
  { fps, cameras, leadCamera }: Pick<DatasetPlan, 'fps' | 'cameras' | 'leadCamera'>,
): EpisodeLayout {
  const startMs = startMsOf(
    scans,
    cameras.map(({ name }) => name),
  )
  const lead = leadCamera === undefined ? undefined : scans.get(leadCamera)
  const run = lead && leadingRun(lead, { fromMs: startMs, endMs: durationMs }, fps)
  if (!lead || !run) return { rowTimes: evenRows(startMs, durationMs, fps), runs: new Map() }
  const rowTimes = timesOf(lead, run)
  const runs = new Map([[lead.name, run]])
  for (const { name, mode } of cameras) {
    const scan = mode === 'mux' && name !== lead.name ? scans.get(name) : undefined
    const following = scan && followingRun(scan, rowTimes, fps)
    if (following) runs.set(name, following)
  }
  return { rowTimes, runs }
}
