import { fixedColumns } from './data-columns.ts'
import { CHUNKS_SIZE, PATH_PATTERNS } from './dataset-paths.ts'
import type { CameraPlan, DatasetPlan } from './dataset-plan.ts'
import { slotName, type VectorFeature } from './features.ts'
import { type FeatureStats, VECTOR_STATS } from './running-stats.ts'

/** Upper sizes of files that LeRobot writes itself. Ours are smaller, because a part is also limited in time. */
const DATA_FILES_MB = 100
const VIDEO_FILES_MB = 200

export interface DatasetTotals {
  readonly robotType: string
  readonly episodes: number
  readonly frames: number
  readonly tasks: readonly string[]
}

/** Returns a feature that is a vector. `info` is ignored by LeRobot. */
function vectorFeature({ slots }: VectorFeature) {
  const choices = slots.filter(({ kind }) => kind === 'choice')
  return {
    dtype: 'float32',
    shape: [slots.length],
    names: slots.map(slotName),
    info: {
      units: slots.map(({ unit }) => unit),
      ...(choices.length > 0 && {
        choices: Object.fromEntries(choices.map((slot) => [slotName(slot), slot.choices])),
      }),
    },
  }
}

function cameraFeature({ mode, format, size: { width, height } }: CameraPlan, fps: number) {
  const feature = { shape: [height, width, 3], names: ['height', 'width', 'channels'] }
  if (mode === 'images') return { dtype: 'image', ...feature }
  return {
    dtype: 'video',
    ...feature,
    info: {
      'video.height': height,
      'video.width': width,
      'video.codec': format,
      'video.pix_fmt': 'yuv420p',
      'video.is_depth_map': false,
      'video.fps': fps,
      'video.channels': 3,
      has_audio: false,
    },
  }
}

/** Returns the content of `meta/info.json`. */
export function datasetInfo(plan: DatasetPlan, { robotType, episodes, frames, tasks }: DatasetTotals) {
  const features = [
    ...plan.vectors.map((feature) => [feature.key, vectorFeature(feature)] as const),
    ...plan.cameras.map((camera) => [camera.key, cameraFeature(camera, plan.fps)] as const),
    ...Object.entries(fixedColumns).map(
      ([name, dtype]) => [name, { dtype, shape: [1], names: null }] as const,
    ),
  ]
  const hasVideo = plan.cameras.some(({ mode }) => mode !== 'images')
  return {
    codebase_version: 'v3.0',
    robot_type: robotType,
    total_episodes: episodes,
    total_frames: frames,
    total_tasks: tasks.length,
    chunks_size: CHUNKS_SIZE,
    data_files_size_in_mb: DATA_FILES_MB,
    video_files_size_in_mb: VIDEO_FILES_MB,
    fps: plan.fps,
    splits: { train: `0:${episodes}` },
    data_path: PATH_PATTERNS.data,
    video_path: hasVideo ? PATH_PATTERNS.video : null,
    features: Object.fromEntries(features),
  }
}

/** Returns the content of `meta/stats.json`. Statistics of pictures have the shape (3, 1, 1). */
export function datasetStats(plan: DatasetPlan, stats: Readonly<Record<string, FeatureStats>>) {
  const pictures = new Set(plan.cameras.map(({ key }) => key))
  const shaped = (key: string, values: readonly number[]) =>
    pictures.has(key) ? values.map((value) => [[value]]) : values
  return Object.fromEntries(
    Object.entries(stats).map(([key, feature]) => [
      key,
      {
        ...Object.fromEntries(VECTOR_STATS.map((name) => [name, shaped(key, feature[name])])),
        count: [feature.count],
      },
    ]),
  )
}
