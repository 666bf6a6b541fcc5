import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { dataColumns, huggingFaceInfo } from './data-columns.ts'
import { createRecordings, periodOf } from './dataset-input.ts'
import { dataPath, episodesPath, filePosition, videoPath } from './dataset-paths.ts'
import { type CameraPlan, layoutOf } from './dataset-plan.ts'
import type { EpisodeContext } from './episode-context.ts'
import { durationMsOf, scanCameras } from './episode-scan.ts'
import { videoFrames, writeVideo } from './episode-video.ts'
import { writeRows } from './episode-writer.ts'
import { type EpisodeRecord, writeEpisodes } from './episodes-file.ts'
import { createKeyframeDecoder, type KeyframeDecoder, type VideoCodecs } from './frame-decoder.ts'
import { openParquetFile } from './parquet-file.ts'
import type { PartDeps, PartInput, PartResult } from './part-input.ts'
import { PixelStats } from './pixel-stats.ts'
import { noCounts } from './resampler.ts'
import { type FeatureStats, type MergeableStats, mergeStats } from './running-stats.ts'
import { type DatasetFile, type OpenDatasetFile, openDatasetFile } from './stored-file.ts'
import { copyInto, openVideoFile } from './video-file.ts'

type PreparedEpisode = Pick<EpisodeContext, 'episode' | 'layout' | 'scans' | 'openReader' | 'firstIndex'>

/** Finds the rows of the episodes. */
async function preparePart(
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
    const scans = scansOf(episode.index) ?? (await scanCameras(await openReader(), period, cameras))
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

/** Adds statistics of an episode to those of the part. Returns them without their points, which take much memory. */
function mergeInto(
  all: Map<string, MergeableStats>,
  stats: Iterable<readonly [string, MergeableStats]>,
): Map<string, FeatureStats> {
  const kept = new Map<string, FeatureStats>()
  for (const [key, added] of stats) {
    all.set(key, mergeStats(all.get(key), added))
    const { points: _, ...published } = added
    kept.set(key, published)
  }
  return kept
}

/** Creates one decoder of keyframes for each camera, when it is needed first. */
function createKeyframeDecoders(codecs: VideoCodecs | undefined) {
  const decoders = new Map<string, KeyframeDecoder>()
  return {
    decoderOf({ key, format }: CameraPlan): KeyframeDecoder | undefined {
      if (!codecs || format === 'jpeg') return undefined
      const decoder = decoders.get(key) ?? createKeyframeDecoder(codecs, format)
      decoders.set(key, decoder)
      return decoder
    },
    close(): void {
      for (const decoder of decoders.values()) decoder.close()
    },
  }
}

/** Writes the rows of the episodes. Returns the file, and the statistics of each episode, which are also added to those of the part. */
async function writeData(
  contexts: readonly EpisodeContext[],
  { plan, fileNumber, keyPrefix }: PartInput,
  deps: PartDeps,
  all: Map<string, MergeableStats>,
) {
  const stats: ReadonlyMap<string, FeatureStats>[] = []
  const path = dataPath(filePosition(fileNumber))
  const file = await writeFile(deps, keyPrefix, path, async (target) => {
    const parquet = openParquetFile(target, dataColumns(plan), { huggingface: huggingFaceInfo(plan) })
    for (const context of contexts) stats.push(mergeInto(all, await writeRows(context, parquet)))
    await parquet.finish()
  })
  return { file, stats }
}

/** Writes the videos of the episodes. Returns the files, and for each camera when the first row of each episode is. */
async function writeVideos(
  contexts: readonly EpisodeContext[],
  { plan, fileNumber, keyPrefix }: PartInput,
  deps: PartDeps,
  progress: (units: number) => void,
) {
  const [files, starts] = [[] as DatasetFile[], new Map<string, number[]>()]
  const rows = contexts.reduce((sum, { layout }) => sum + layout.rowTimes.length, 0)
  for (const [index, camera] of plan.cameras.entries()) {
    if (camera.mode === 'images') continue
    const filePath = join(deps.tempDir, `camera-${index}.mp4`)
    starts.set(camera.key, await writeCamera(contexts, camera, filePath, () => progress(0)))
    const path = videoPath(camera.key, filePosition(fileNumber))
    files.push(await writeFile(deps, keyPrefix, path, (file) => copyInto(file, filePath)))
    await rm(filePath)
    progress(rows)
  }
  return { files, starts }
}

/** Writes the files of consecutive episodes. */
export async function writePart(input: PartInput, deps: PartDeps): Promise<PartResult> {
  const { plan, fileNumber, keyPrefix } = input
  const prepared = await preparePart(input, deps)
  const rows = prepared.reduce((sum, { layout }) => sum + layout.rowTimes.length, 0)
  const videos = plan.cameras.filter(({ mode }) => mode !== 'images').length
  const progress = createProgress(rows * (1 + videos), deps.progress)
  const counts = noCounts()
  const keyframes = createKeyframeDecoders(deps.codecs)
  try {
    const contexts = prepared.map((episode): EpisodeContext => {
      const pixels = new Map(plan.cameras.map(({ key }) => [key, new PixelStats()]))
      const { codecs } = deps
      return { ...episode, plan, codecs, keyframeDecoder: keyframes.decoderOf, counts, pixels, progress }
    })
    const stats = new Map<string, MergeableStats>()
    const data = await writeData(contexts, input, deps, stats)
    const { files, starts } = await writeVideos(contexts, input, deps, progress)
    const records = contexts.map((context, index) => recordOf(context, index, data.stats, starts, stats))
    const path = episodesPath(filePosition(fileNumber))
    const episodes = await writeFile(deps, keyPrefix, path, (file) =>
      writeEpisodes(file, plan, fileNumber, records),
    )
    return { files: [data.file, ...files, episodes], rows, stats: Object.fromEntries(stats), counts }
  } finally {
    keyframes.close()
  }
}

function recordOf(
  { episode, layout, firstIndex, pixels }: EpisodeContext,
  number: number,
  stats: readonly ReadonlyMap<string, FeatureStats>[],
  starts: ReadonlyMap<string, readonly number[]>,
  all: Map<string, MergeableStats>,
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
      ...mergeInto(
        all,
        [...pixels].map(([key, pixel]) => [key, pixel.result(length)] as const),
      ),
    ]),
  }
}
