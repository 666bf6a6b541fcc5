import { readFrames } from './camera-frames.ts'
import { periodOf } from './dataset-input.ts'
import type { CameraPlan, EpisodeLayout } from './dataset-plan.ts'
import type { EpisodeContext } from './episode-context.ts'
import type { CameraScan } from './episode-scan.ts'
import { scanOf, shownRange } from './episode-writer.ts'
import { frameHeader } from './frame-format.ts'
import { isSampled } from './pixel-stats.ts'
import { transcode } from './transcoder.ts'
import type { VideoFile } from './video-file.ts'

/** Frames between two reports of progress. */
const REPORT_EVERY = 1_024
/** Keyframes of an encoded video that count for the statistics. */
const MAX_KEYFRAMES = 16

/** The frames of a camera's video for an episode, and how many of them are before its first row. */
interface VideoRange {
  readonly from: number
  readonly to: number
  readonly before: number
}

/** Returns the frames of a camera that is stored without transcoding. */
function muxedRange(camera: CameraPlan, { runs }: EpisodeLayout): VideoRange {
  const run = runs.get(camera.name)
  if (!run) throw new Error(`the camera ${camera.name} has no frames for the rows`)
  return { from: run.fromKey, to: run.first + run.count, before: run.first - run.fromKey }
}

/** Returns how many frames the video of an episode has. */
export function videoFrames(camera: CameraPlan, layout: EpisodeLayout): number {
  if (camera.mode === 'transcode') return layout.rowTimes.length
  const { from, to } = muxedRange(camera, layout)
  return to - from
}

/**
 * Adds the frames of an episode to a video. A video that is stored without transcoding begins at a keyframe, which may be before the first
 * row: `from_timestamp` of the episode then is later.
 * @returns the frame of the file that belongs to the first row
 */
export async function writeVideo(
  context: EpisodeContext,
  camera: CameraPlan,
  file: VideoFile,
  signalProgress: () => void,
): Promise<number> {
  const scan = scanOf(context, camera)
  return camera.mode === 'transcode'
    ? await encodeVideo(context, camera, scan, file, signalProgress)
    : await muxVideo(context, camera, scan, file, signalProgress)
}

async function muxVideo(
  context: EpisodeContext,
  camera: CameraPlan,
  scan: CameraScan,
  file: VideoFile,
  signalProgress: () => void,
): Promise<number> {
  const { layout, episode } = context
  const reader = await context.openReader()
  const { from, to, before } = muxedRange(camera, layout)
  const first = file.count() + before
  const keyframes: Uint8Array[] = []
  const isSample = sampleOfKeyframes(scan, from, to)
  for await (const { index, isKey, data } of readFrames(reader, periodOf(episode), scan, { from, to })) {
    await file.add(data, isKey)
    if (isSample(index)) keyframes.push(data.slice())
    if (index % REPORT_EVERY === 0) signalProgress()
  }
  if (file.count() - first + before !== to - from)
    throw new Error(`the video of the camera ${camera.name} ends before its rows`)
  await measure(context, camera, keyframes)
  return first
}

/** Adds keyframes to the statistics of a camera, if they can be decoded here. */
async function measure(
  { keyframeDecoder, pixels }: EpisodeContext,
  camera: CameraPlan,
  keyframes: readonly Uint8Array[],
): Promise<void> {
  const decoder = keyframeDecoder(camera)
  if (decoder) await pixels.get(camera.key)?.addKeyframes(decoder, keyframes)
}

/** Returns a check for the keyframes that count for the statistics. */
function sampleOfKeyframes({ keys }: CameraScan, from: number, to: number): (index: number) => boolean {
  const all = [...keys.subarray(from, to).entries()].flatMap(([at, isKey]) => (isKey ? [from + at] : []))
  const sampled = new Set(all.filter((_, number) => isSampled(number, all.length)))
  return (index) => sampled.has(index)
}

async function encodeVideo(
  context: EpisodeContext,
  camera: CameraPlan,
  scan: CameraScan,
  file: VideoFile,
  signalProgress: () => void,
): Promise<number> {
  const { layout, episode, plan } = context
  const reader = await context.openReader()
  const first = file.count()
  const { range } = shownRange(scan, layout.rowTimes)
  const frames = readFrames(reader, periodOf(episode), scan, range)
  const units = transcode(frames, {
    format: scan.format ?? 'jpeg',
    size: camera.size,
    fps: plan.fps,
    rowTimes: layout.rowTimes,
  })
  const keyframes: Uint8Array[] = []
  let row = 0
  for await (const unit of units) {
    const { isKey } = frameHeader('h264', unit)
    await file.add(unit, isKey)
    const isSample = isKey && keyframes.length < MAX_KEYFRAMES && keyframes.length * REPORT_EVERY <= row
    if (isSample) keyframes.push(unit.slice())
    if (row++ % REPORT_EVERY === 0) signalProgress()
  }
  await measure(context, camera, keyframes)
  return first
}
