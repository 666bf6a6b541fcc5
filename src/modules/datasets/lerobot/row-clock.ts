import type { CameraScan } from './episode-scan.ts'

/** How far the mean rate of a camera may be from the rate of the dataset, so that each of its frames is a row. */
const RATE_TOLERANCE = 0.05
/** The longest pause between two frames: three rows, but at least this long. */
const MIN_PAUSE_MS = 100
/** How far frames of a further camera may be from their rows: one row, but at least this far. */
const MIN_OFFSET_MS = 50
const MS_PER_S = 1_000

/** The frames of a camera that serve as rows, one frame for each row. */
export interface FrameRun {
  /** The keyframe from which a decoder has to start. It may be before the first row. */
  readonly fromKey: number
  /** The frame of the first row. */
  readonly first: number
  readonly count: number
}

/** Returns the index of the first time that is not before another; the length if all are. */
export function firstNotBefore(times: Float64Array, ms: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) < ms) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the last keyframe up to a frame; -1 without one. */
export const keyAtOrBefore = ({ keys }: CameraScan, frame: number): number => keys.lastIndexOf(1, frame)

/** Returns the first frame from a time on that can be decoded; the number of frames if there is no such frame. */
export function firstDecodable(scan: CameraScan, ms: number): number {
  const first = firstNotBefore(scan.times, ms)
  if (first < scan.times.length && keyAtOrBefore(scan, first) >= 0) return first
  const key = scan.keys.indexOf(1, first)
  return key === -1 ? scan.times.length : key
}

/**
 * Returns the frames from a time to the end of an episode, if they can be its rows: at a mean rate within 5 % of the dataset's, and
 * without a pause of more than three rows (at least 100 ms), also at the end.
 */
export function leadingRun(
  scan: CameraScan,
  { fromMs, endMs }: { readonly fromMs: number; readonly endMs: number },
  fps: number,
): FrameRun | undefined {
  const first = firstDecodable(scan, fromMs)
  const count = scan.times.length - first
  if (count < 2) return undefined
  const { times } = scan
  const rowMs = MS_PER_S / fps
  const longestMs = Math.max(3 * rowMs, MIN_PAUSE_MS)
  for (let frame = first + 1; frame <= times.length; frame++)
    if ((times[frame] ?? endMs) - (times[frame - 1] as number) > longestMs) return undefined
  const meanMs = ((times.at(-1) as number) - (times[first] as number)) / (count - 1)
  if (Math.abs(meanMs / rowMs - 1) > RATE_TOLERANCE) return undefined
  return { fromKey: keyAtOrBefore(scan, first), first, count }
}

/** Returns the frames of a further camera for given rows, if frame after frame is within one row (at least 50 ms) of its row. */
export function followingRun(scan: CameraScan, rowTimes: Float64Array, fps: number): FrameRun | undefined {
  const startMs = rowTimes[0] ?? 0
  const count = rowTimes.length
  const after = firstNotBefore(scan.times, startMs)
  const before = after - 1
  const distance = (frame: number) => Math.abs((scan.times[frame] ?? Number.POSITIVE_INFINITY) - startMs)
  const first = distance(before) < distance(after) ? before : after
  const fromKey = keyAtOrBefore(scan, first)
  if (fromKey < 0 || first + count > scan.times.length) return undefined
  const farthestMs = Math.max(MS_PER_S / fps, MIN_OFFSET_MS)
  for (let row = 0; row < count; row++) {
    const offset = (scan.times[first + row] as number) - (rowTimes[row] as number)
    if (Math.abs(offset) > farthestMs) return undefined
  }
  return { fromKey, first, count }
}

/** Returns the times of rows at a constant rate. */
export function evenRows(startMs: number, durationMs: number, fps: number): Float64Array {
  const rowMs = MS_PER_S / fps
  const count = Math.max(0, Math.floor((durationMs - startMs) / rowMs + 1e-6))
  return Float64Array.from({ length: count }, (_, row) => startMs + row * rowMs)
}

/** Returns for each row the frame that is shown at its time: the last one up to it. */
export function shownFrames(times: Float64Array, rowTimes: Float64Array): Int32Array {
  let frame = -1
  return Int32Array.from(rowTimes, (ms) => {
    while (frame + 1 < times.length && (times[frame + 1] as number) <= ms) frame++
    return frame
  })
}
