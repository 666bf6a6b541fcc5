import { join } from 'node:path'
import { dataColumns, huggingFaceInfo } from './data-columns.ts'
import { createRecordings, type EpisodeInput, periodOf } from './dataset-input.ts'
import { dataPath, episodesPath, filePosition, videoPath } from './dataset-paths.ts'
import { type CameraPlan, type CameraScans, type DatasetPlan, layoutOf } from './dataset-plan.ts'
import type { EpisodeContext } from './episode-context.ts'
import { durationMsOf, scanCameras } from './episode-scan.ts'
import { videoFrames, writeVideo } from './episode-video.ts'
import { writeRows } from './episode-writer.ts'
import { type EpisodeRecord, writeEpisodes } from './episodes-file.ts'
import { ExportProblem } from './export-problem.ts'
import type { VideoCodecs } from './frame-decoder.ts'
import { openParquetFile } from './parquet-file.ts'
import { PixelStats } from './pixel-stats.ts'
import { noCounts, type ResamplingCounts } from './resampler.ts'
import { type FeatureStats, mergeStats } from './running-stats.ts'
import { type DatasetFile, type DatasetStore, type OpenDatasetFile, openDatasetFile } from './stored-file.ts'
import { copyInto, openVideoFile } from './video-file.ts'

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
  readonly stats: Readonly<Record<string, FeatureStats>>
  readonly counts: ResamplingCounts
}

export interface PartDeps {
  readonly store: DatasetStore
  readonly codecs: VideoCodecs | undefined
  /** A folder for temporary files. */
  readonly tempDir: string
  /** Returns the frames of an episode from the planning, if they are still known. */
  readonly scansOf: (episodeId: string) => CameraScans | undefined
  /** Called with the part of the work that is done, from 0 to 1. */
  readonly progress: (done: number) => void
}

type PreparedEpisode = Pick<EpisodeContext, 'episode' | 'layout' | 'scans' | 'openReader' | 'firstIndex'>

/** Finds the rows of the episodes. */
async function prepare(
  { plan, episodes, firstIndex }: PartInput,
  { store, scansOf }: PartDeps,
): Promise<PreparedEpisode[]> {
  const openRecording = createRecordings(store)
  const cameras = plan.cameras.map(({ name }) => name)
  const prepared: PreparedEpisode[] = []
  let index = firstIndex
  for (const episode of episodes) {
    const openReader = () => openRecording(episode)
    const period = periodOf(episode)
    const scans = scansOf(episode.id) ?? (await scanCameras(await openReader(), period, cameras))
    const layout = layoutOf(scans, durationMsOf(period), plan)
    if (layout.rowTimes.length === 0)
      throw new ExportProblem(
        `The episode ${episode.id} is too short for a row of the dataset. Leave it out, or discard it.`,
      )
    prepared.push({ episode, layout, scans, openReader, firstIndex: index })
    index += layout.rowTimes.length
  }
  return prepared
}

/** Counts the work that is done: rows, and frames of videos. */
function createProgress(total: number, report: (done: number) => void) {
  let done = 0
  return (units: number) => {
    done += units
    report(Math.min(1, done / total))
  }
}

/** Writes a file of the dataset. Discards it after an error. */
async function writeFile(
  { store }: PartDeps,
  prefix: string,
  path: string,
  write: (file: OpenDatasetFile) => Promise<void>,
): Promise<DatasetFile> {
  const file = await openDatasetFile(store, path, `${prefix}/${path}`)
  try {
    await write(file)
    return await file.complete()
  } catch (cause) {
    await file.abort().catch(() => {}) // the first error says why
    throw cause
  }
}

/** Writes the video of a camera for all episodes of the part. Returns when the first row of each is, in seconds. */
async function writeCamera(
  contexts: readonly EpisodeContext[],
  camera: CameraPlan,
  filePath: string,
  signalProgress: () => void,
): Promise<number[]> {
  const { format, size } = camera
  if (format === 'jpeg') throw new Error('pictures are no video')
  const fps = contexts[0]?.plan.fps ?? 1
  const frames = contexts.reduce((sum, { layout }) => sum + videoFrames(camera, layout), 0)
  const video = await openVideoFile({ filePath, format, size, fps, frames })
  const starts: number[] = []
  try {
    for (const context of contexts)
      starts.push((await writeVideo(context, camera, video, signalProgress)) / fps)
    await video.finish()
    return starts
  } catch (cause) {
    await video.cancel().catch(() => {}) // the first error says why
    throw cause
  }
}

const mergeInto = (all: Map<string, FeatureStats>, stats: ReadonlyMap<string, FeatureStats>) => {
  for (const [key, added] of stats) all.set(key, mergeStats(all.get(key), added))
}

/** Writes the files of consecutive episodes. */
export async function writePart(input: PartInput, deps: PartDeps): Promise<PartResult> {
  const { plan, fileNumber, keyPrefix } = input
  const position = filePosition(fileNumber)
  const prepared = await prepare(input, deps)
  const rows = prepared.reduce((sum, { layout }) => sum + layout.rowTimes.length, 0)
  const videos = plan.cameras.filter(({ mode }) => mode !== 'images')
  const progress = createProgress(rows * (1 + videos.length), deps.progress)
  const counts = noCounts()
  const contexts = prepared.map((episode): EpisodeContext => {
    const pixels = new Map(plan.cameras.map(({ key }) => [key, new PixelStats()]))
    return { ...episode, plan, codecs: deps.codecs, counts, pixels, progress }
  })
  const stats: Map<string, FeatureStats>[] = []
  const files: DatasetFile[] = []
  files.push(
    await writeFile(deps, keyPrefix, dataPath(position), async (file) => {
      const parquet = openParquetFile(file, dataColumns(plan), { huggingface: huggingFaceInfo(plan) })
      for (const context of contexts) stats.push(new Map(await writeRows(context, parquet)))
      await parquet.finish()
    }),
  )
  const starts = new Map<string, number[]>()
  for (const [index, camera] of videos.entries()) {
    const filePath = join(deps.tempDir, `camera-${index}.mp4`)
    starts.set(camera.key, await writeCamera(contexts, camera, filePath, () => progress(0)))
    files.push(
      await writeFile(deps, keyPrefix, videoPath(camera.key, position), (file) => copyInto(file, filePath)),
    )
    progress(rows)
  }
  const records = contexts.map((context, index) => recordOf(context, index, stats, starts))
  files.push(
    await writeFile(deps, keyPrefix, episodesPath(position), (file) =>
      writeEpisodes(file, plan, fileNumber, records),
    ),
  )
  const all = new Map<string, FeatureStats>()
  for (const record of records) mergeInto(all, record.stats)
  return { files, rows, stats: Object.fromEntries(all), counts }
}

function recordOf(
  { episode, layout, firstIndex, pixels }: EpisodeContext,
  number: number,
  stats: readonly ReadonlyMap<string, FeatureStats>[],
  starts: ReadonlyMap<string, readonly number[]>,
): EpisodeRecord {
  const { index, task } = episode
  const { length } = layout.rowTimes
  return {
    index,
    task,
    length,
    firstIndex,
    videoStarts: new Map([...starts].map(([key, seconds]) => [key, seconds[number] ?? 0])),
    stats: new Map([
      ...(stats[number] ?? []),
      ...[...pixels].map(([key, pixel]) => [key, pixel.result(length)] as const),
    ]),
  }
}
