import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import type { Writable } from 'node:stream'
import type { CameraFrame } from './camera-frames.ts'
import { type FrameFormat, NAL_DELIMITER, nalUnits } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'
import { firstNotBefore } from './row-clock.ts'

/** Ticks of the time base for each row. */
const TICKS_PER_ROW = 1_000
/** Rows before the first one, for frames from which the decoder has to start. */
const LEAD_ROWS = 3_600
const IVF_HEADER_BYTES = 32
const FOUR_CC: Readonly<Record<FrameFormat, string>> = { vp8: 'VP80', h264: 'H264', jpeg: 'MJPG' }
/** Distance of keyframes, in frames: short, because training reads frames in any order. */
const KEYFRAME_DISTANCE = 10
const NICENESS = 10
const MAX_ERROR_CHARS = 2_000
/** How long ffmpeg may neither take a frame nor return one. */
const STALL_MS = 300_000
const VERSION_LIMIT_MS = 30_000

export interface TranscodeOptions {
  readonly format: FrameFormat
  readonly size: PictureSize
  readonly fps: number
  readonly rowTimes: Float64Array
  /** After how long an ffmpeg without progress is ended. Default: five minutes. */
  readonly stallMs?: number
}

/** Returns the header of an IVF file, a container of frames with times that ffmpeg reads from a pipe. */
function ivfHeader({ format, size, fps }: TranscodeOptions): Buffer {
  const header = Buffer.alloc(IVF_HEADER_BYTES)
  header.write('DKIF')
  header.writeUInt16LE(IVF_HEADER_BYTES, 6)
  header.write(FOUR_CC[format], 8)
  header.writeUInt16LE(size.width, 12)
  header.writeUInt16LE(size.height, 14)
  header.writeUInt32LE(fps * TICKS_PER_ROW, 16)
  header.writeUInt32LE(1, 20)
  return header
}

/**
 * Returns the time of a frame in rows: a frame at the time of row k has the time k, and between two rows the time is interpolated.
 * So the frame that is shown at row k is the last one up to k, whatever the distances of the rows are.
 */
export function rowPosition(rowTimes: Float64Array, atMs: number, fps: number): number {
  const last = rowTimes.length - 1
  const next = firstNotBefore(rowTimes, atMs)
  const rowMs = 1_000 / fps
  if (next === 0) return (atMs - (rowTimes[0] as number)) / rowMs
  if (next > last) return last + (atMs - (rowTimes[last] as number)) / rowMs
  const [before, after] = [rowTimes[next - 1] as number, rowTimes[next] as number]
  return next - 1 + (atMs - before) / (after - before)
}

function ivfFrame({ atMs, data }: CameraFrame, { rowTimes, fps }: TranscodeOptions): Buffer {
  const header = Buffer.alloc(12)
  const position = Math.max(0, rowPosition(rowTimes, atMs, fps) + LEAD_ROWS)
  header.writeUInt32LE(data.length)
  header.writeBigUInt64LE(BigInt(Math.floor(position * TICKS_PER_ROW)), 4)
  return Buffer.concat([header, data])
}

function ffmpegArguments({ size, fps, rowTimes }: TranscodeOptions): string[] {
  const filters = [
    'tpad=stop=-1:stop_mode=clone',
    `fps=fps=${fps}:round=up:start_time=${LEAD_ROWS}/${fps}`,
    `scale=${size.width}:${size.height}`,
    'setsar=1',
    'format=yuv420p',
  ]
  // Without `-copyts`, ffmpeg makes the first time 0.
  const input = ['-nostdin', '-v', 'error', '-copyts', '-threads', '1', '-f', 'ivf', '-i', 'pipe:0']
  const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-bf', '0', '-threads', '1']
  const layout = ['-g', String(KEYFRAME_DISTANCE), '-aud', '1', '-f', 'h264', 'pipe:1']
  const frames = ['-frames:v', String(rowTimes.length)]
  return [...input, '-vf', filters.join(','), ...frames, ...encoder, ...layout]
}

async function feed(
  stdin: Writable,
  frames: AsyncIterable<CameraFrame>,
  options: TranscodeOptions,
  progressed: () => void,
): Promise<void> {
  stdin.on('error', () => {}) // ffmpeg closes its input when it has all frames; its exit code says whether it failed
  stdin.write(ivfHeader(options))
  for await (const frame of frames) {
    if (stdin.destroyed) return
    progressed()
    if (stdin.write(ivfFrame(frame, options))) continue
    await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]).catch(() => {}) // as above
  }
  stdin.end()
}

/** Calls `onStalled` when a stream for whose data the reader waits shows no progress for some time. A reader that does not read is no stall. */
function watchStall(stallMs: number, onStalled: () => void) {
  let isReading = true
  const timer = setTimeout(() => {
    if (isReading) onStalled()
    else timer.refresh()
  }, stallMs)
  return {
    progressed: (): void => void timer.refresh(),
    async *watched(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of stream) {
        isReading = false
        yield chunk
        isReading = true
        timer.refresh()
      }
    },
    close: () => clearTimeout(timer),
  }
}

/** Splits the output of the encoder into access units, each of which begins with a delimiter. */
async function* accessUnits(stream: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    const starts = [...nalUnits(rest)].filter(({ type }) => type === NAL_DELIMITER).map(({ start }) => start)
    for (const [index, start] of starts.slice(0, -1).entries())
      yield withoutTrailingZeros(rest.subarray(start, starts[index + 1]))
    rest = rest.subarray(starts.at(-1) ?? 0)
  }
  if (rest.length > 0) yield withoutTrailingZeros(rest)
}

/** Removes the zeros before the next start code, which belong to no NAL unit. */
function withoutTrailingZeros(data: Buffer): Buffer {
  let end = data.length
  while (end > 0 && data[end - 1] === 0) end--
  return data.subarray(0, end)
}

/**
 * Encodes frames again as H.264, one frame for each row: the one that is shown at the time of the row. ffmpeg runs with low
 * priority and in one thread, so that control is not delayed.
 * @throws Error when ffmpeg fails, or does not return as many frames as there are rows
 */
export async function* transcode(
  frames: AsyncIterable<CameraFrame>,
  options: TranscodeOptions,
): AsyncGenerator<Uint8Array> {
  const child = spawn('ffmpeg', ffmpegArguments(options), { stdio: ['pipe', 'pipe', 'pipe'] })
  const exit = once(child, 'close')
  exit.catch(() => {}) // awaited below
  const stall = watchStall(options.stallMs ?? STALL_MS, () => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (text: Buffer) => {
    errors = (errors + text.toString()).slice(-MAX_ERROR_CHARS)
  })
  try {
    lowerPriority(child.pid)
    const fed = feed(child.stdin, frames, options, stall.progressed)
    fed.catch(() => child.kill()) // awaited below
    let count = 0
    for await (const unit of accessUnits(stall.watched(child.stdout))) {
      count++
      yield unit
    }
    await fed
    const [code] = await exit
    if (code !== 0 || count !== options.rowTimes.length)
      throw new Error(
        `ffmpeg ended with ${code} after ${count} of ${options.rowTimes.length} frames: ${errors}`,
      )
  } finally {
    stall.close()
    child.kill('SIGKILL')
  }
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICENESS)
  } catch {
    // The process has ended.
  }
}

/** Returns whether ffmpeg is installed. */
export async function hasFfmpeg(): Promise<boolean> {
  const child = spawn('ffmpeg', ['-version'], { stdio: 'ignore', timeout: VERSION_LIMIT_MS })
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}
