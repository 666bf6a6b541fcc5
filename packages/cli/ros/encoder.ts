import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** Pictures that the encoder may hold: more would only be late. */
const MAX_IN_FLIGHT = 3
/** An encoder that returns nothing for this time hangs. */
const HANG_MS = 3_000
const CHECK_MS = 500
const MIN_KBPS = 100
/** Width of level 3.1, which every browser decodes; larger pictures are scaled down. */
const MAX_WIDTH = 1_280
/** Of a tag of FLV: a larger one is no video. */
const MAX_TAG_BYTES = 8 * 1024 * 1024
/** Of the last message of ffmpeg. */
const MAX_ERROR_LENGTH = 300

/** What pictures the encoder gets: JPEG, or pixels of one size. */
export type PictureFormat =
  | { readonly kind: 'jpeg' }
  | { readonly kind: 'raw'; readonly pixels: string; readonly width: number; readonly height: number }

interface EncoderOptions {
  readonly format: PictureFormat
  readonly fps: number
  readonly kbps: number
  /** Called for each encoded picture: an H.264 access unit in the byte-stream format. */
  readonly onFrame: (frame: Uint8Array, captureMs: number, isKeyframe: boolean) => void
  /** Called once, when the encoder has ended by itself or was ended because it hung. `isMissing`: there is no ffmpeg. */
  readonly onEnd: (reason: string, isMissing: boolean) => void
}

/** Encodes pictures as H.264 with ffmpeg, in a process of its own. It never queues more than a few of them. */
export class Encoder {
  readonly #options: EncoderOptions
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #captures: { readonly captureMs: number; readonly sinceMs: number }[] = []
  readonly #timer: NodeJS.Timeout
  #error = ''
  #ended = false

  constructor(options: EncoderOptions) {
    this.#options = options
    this.#process = spawn('ffmpeg', argumentsOf(options), { stdio: ['pipe', 'pipe', 'pipe'] })
    // First: a process that could not be started may have no streams.
    this.#process.on('error', (cause: NodeJS.ErrnoException) =>
      this.#end(cause.message, cause.code === 'ENOENT'),
    )
    const { stdin, stdout, stderr } = this.#process
    const reader = new FlvReader((frame, isKeyframe) => {
      const capture = this.#captures.shift()
      if (capture && !this.#ended) options.onFrame(frame, capture.captureMs, isKeyframe)
    })
    stdin.on('error', () => {}) // `close` follows
    stdout.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch (cause) {
        this.#end(String(cause), false)
      }
    })
    stderr.on('data', (chunk: Buffer) => {
      this.#error = `${this.#error}${chunk}`.slice(-MAX_ERROR_LENGTH)
    })
    this.#process.on('close', () => this.#end(this.#error.trim() || 'ffmpeg has ended', false))
    this.#timer = setInterval(() => this.#checkHang(), CHECK_MS)
  }

  /** Encodes a picture. Returns false if it was dropped, because the encoder is behind. */
  encode(picture: Uint8Array, captureMs: number): boolean {
    const { stdin } = this.#process
    if (this.#ended || this.#captures.length >= MAX_IN_FLIGHT || stdin.writableNeedDrain) return false
    this.#captures.push({ captureMs, sinceMs: performance.now() })
    if (this.#options.format.kind === 'jpeg') stdin.write(partHeader(picture.length))
    stdin.write(picture)
    return true
  }

  /** Ends the encoder at once. */
  close(): void {
    this.#ended = true
    clearInterval(this.#timer)
    this.#process.kill('SIGKILL')
  }

  #checkHang(): void {
    const [oldest] = this.#captures
    if (oldest && performance.now() - oldest.sinceMs > HANG_MS) this.#end('ffmpeg does not answer', false)
  }

  #end(reason: string, isMissing: boolean): void {
    if (this.#ended) return
    this.close()
    this.#options.onEnd(reason, isMissing)
  }
}

/** Each part says how long it is, so that the decoder does not wait for the next one. */
const partHeader = (bytes: number) =>
  `--picture\r\nContent-type: image/jpeg\r\nContent-length: ${bytes}\r\n\r\n`

function argumentsOf({ format, fps, kbps }: EncoderOptions): string[] {
  const rate = `${Math.max(MIN_KBPS, Math.round(kbps))}k`
  const input =
    format.kind === 'jpeg'
      ? ['-f', 'mpjpeg']
      : ['-f', 'rawvideo', '-pixel_format', format.pixels, '-video_size', `${format.width}x${format.height}`]
  return [
    ...['-hide_banner', '-loglevel', 'error', '-flags', 'low_delay'],
    ...['-probesize', '32', '-analyzeduration', '0', ...input, '-r', String(fps), '-i', 'pipe:0'],
    ...['-an', '-vf', `scale='min(${MAX_WIDTH},iw)':-2`, '-pix_fmt', 'yuv420p'],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-tune',
      'zerolatency',
      '-profile:v',
      'baseline',
      '-bf',
      '0',
    ],
    // A keyframe each second.
    ...['-g', String(Math.max(1, Math.round(fps))), '-b:v', rate, '-maxrate', rate, '-bufsize', rate],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'],
  ]
}

const FLV_HEADER_BYTES = 13
const TAG_HEADER_BYTES = 11
const VIDEO_TAG = 9
const START_CODE = Buffer.from([0, 0, 0, 1])

/**
 * Reads the frames of a stream of FLV, which says how long each frame is: without the length, a frame would end only with the
 * beginning of the next one. Puts the parameter sets before each keyframe.
 */
class FlvReader {
  readonly #onFrame: (frame: Uint8Array, isKeyframe: boolean) => void
  #buffer: Buffer = Buffer.alloc(0)
  #skip = FLV_HEADER_BYTES
  #parameterSets: Buffer = Buffer.alloc(0)

  constructor(onFrame: (frame: Uint8Array, isKeyframe: boolean) => void) {
    this.#onFrame = onFrame
  }

  /** @throws Error for what is no FLV */
  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    for (;;) {
      const skipped = Math.min(this.#skip, this.#buffer.length)
      this.#buffer = this.#buffer.subarray(skipped)
      this.#skip -= skipped
      if (this.#buffer.length < TAG_HEADER_BYTES) return
      const bytes = this.#buffer.readUIntBE(1, 3)
      if (bytes > MAX_TAG_BYTES) throw new Error('ffmpeg sent no video')
      if (this.#buffer.length < TAG_HEADER_BYTES + bytes) return
      const body = this.#buffer.subarray(TAG_HEADER_BYTES, TAG_HEADER_BYTES + bytes)
      if (this.#buffer[0] === VIDEO_TAG && bytes > 5) this.#video(body)
      this.#skip = TAG_HEADER_BYTES + bytes + 4
    }
  }

  #video(body: Buffer): void {
    const isKeyframe = (body[0] as number) >> 4 === 1
    const content = body.subarray(5)
    if (body[1] === 0) this.#parameterSets = parameterSetsOf(content)
    else if (body[1] === 1) {
      const units = unitsOf(content, 4)
      this.#onFrame(isKeyframe ? Buffer.concat([this.#parameterSets, units]) : units, isKeyframe)
    }
  }
}

/** Returns the parameter sets of a decoder configuration (ISO/IEC 14496-15, 5.3.3) in the byte-stream format. */
function parameterSetsOf(configuration: Buffer): Buffer {
  const sets: Buffer[] = []
  let at = 5
  for (const mask of [0x1f, 0xff]) {
    for (let left = configuration.readUInt8(at++) & mask; left > 0; left--) {
      const bytes = configuration.readUInt16BE(at)
      sets.push(START_CODE, configuration.subarray(at + 2, at + 2 + bytes))
      at += 2 + bytes
    }
  }
  return Buffer.concat(sets)
}

/** Returns units that are preceded by their lengths in the byte-stream format. */
function unitsOf(content: Buffer, lengthBytes: number): Buffer {
  const units: Buffer[] = []
  for (let at = 0; at + lengthBytes <= content.length; ) {
    const bytes = content.readUIntBE(at, lengthBytes)
    at += lengthBytes
    units.push(START_CODE, content.subarray(at, at + bytes))
    at += bytes
  }
  return Buffer.concat(units)
}
