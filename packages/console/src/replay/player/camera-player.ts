import { createStore, type Store } from '../../base/store.ts'
import { RangeRefused } from '../data/block-cache.ts'
import { createRetryDelay, type RecordingSource } from '../data/recording-source.ts'

/** Decoded pictures that wait to be shown: they hold memory of the decoder. */
const MAX_DECODED = 4
const MAX_PENDING = 6
const AHEAD_MS = 500
/** Over longer distances a keyframe is nearer than the frames between. */
const LONGEST_WAY_MS = 3_000
/** While the user drags, a jump gets this long to show its picture before the next one. */
const PATIENCE_MS = 600
/** A decoder that keeps a frame back without a next one. */
const HELD_BACK_MS = 250
/** A jump that makes no progress for this long begins again: browsers take decoders back from pages without an error. */
const STALLED_MS = 10_000

export type CameraProblem = 'unsupported' | 'unreadable' | 'undecodable'

/** Plays the frames of one camera. It follows a time that is given on each animation frame. */
export class CameraPlayer {
  readonly topic: string
  readonly problem: Store<CameraProblem | undefined> = createStore<CameraProblem | undefined>(undefined)
  readonly #source: RecordingSource
  readonly #schema: FrameSchema
  readonly #keyframes
  readonly #canvases = new Set<HTMLCanvasElement>()
  #run: Run | undefined
  #decoded: DecodedFrame[] = []
  #shown: DecodedFrame | undefined
  #wantedMs = Number.NaN
  #wake: (() => void) | undefined
  readonly #retryDelay = createRetryDelay()
  #retryAtMs = Number.POSITIVE_INFINITY

  constructor(source: RecordingSource, topic: string, schema: FrameSchema) {
    this.#source = source
    this.topic = topic
    this.#schema = schema
    this.#keyframes = createKeyframeFinder(source, topic, schema)
  }

  readonly shown: Store<number | undefined> = createStore<number | undefined>(undefined)

  /** Draws the pictures on a canvas too. Returns a function that ends it. */
  attach(canvas: HTMLCanvasElement): () => void {
    this.#canvases.add(canvas)
    drawFrame(canvas, this.#shown)
    return () => this.#canvases.delete(canvas)
  }

  /** Shows the picture of a time after it was decoded. */
  follow(atMs: number): void {
    this.#wantedMs = atMs
    const run = this.#run
    const isPatient = run?.isSeeking && performance.now() - run.startedMs < PATIENCE_MS
    if ((!this.#isOnWay() && !isPatient) || this.#isRetryDue()) this.#start(atMs)
    this.#present()
    this.#wake?.()
  }

  /** Returns whether the picture of the time is shown, or there is none. A camera with a problem does not hold up the others. */
  isReady(): boolean {
    const run = this.#run
    if (this.problem.get() !== undefined) return true
    if (!run || run.isSeeking || !this.#isOnWay()) return false
    if (!run.hasEnded && run.headMs <= this.#wantedMs) return false
    const next = this.#decoded[0]
    if (next) return next.atMs > this.#wantedMs
    if ((run.decoder?.pending() ?? 0) === 0) return true
    return performance.now() - run.activeMs > HELD_BACK_MS
  }

  continue(): void {
    if (this.#run?.hasEnded || this.problem.get() !== undefined) this.#start(this.#wantedMs)
  }

  close(): void {
    this.#stop()
    this.#shown?.close()
    this.#shown = undefined
    this.shown.set(undefined)
  }

  /** Returns whether the run reaches the wanted time sooner than a new one would. */
  #isOnWay(): boolean {
    const run = this.#run
    if (!run) return false
    const wantedMs = this.#wantedMs
    if (this.problem.get() !== undefined) return Math.abs(wantedMs - run.fromMs) < LONGEST_WAY_MS
    const earliestMs = run.isSeeking ? run.fromMs : (this.#shown?.atMs ?? run.fromMs)
    if (wantedMs < earliestMs) return false
    return run.hasEnded || run.isSeeking || wantedMs - run.headMs < LONGEST_WAY_MS
  }

  /** Returns whether to read the picture again after a failure, less and less often, or without progress. */
  #isRetryDue(): boolean {
    const nowMs = performance.now()
    if (this.problem.get() !== undefined) return nowMs >= this.#retryAtMs
    return this.#run?.isSeeking === true && nowMs - this.#run.activeMs > STALLED_MS
  }

  #stop(): void {
    this.#run?.abort.abort()
    this.#run?.decoder?.close()
    this.#run = undefined
    for (const frame of this.#decoded) frame.close()
    this.#decoded = []
    this.#wake?.()
  }

  #start(atMs: number): void {
    if (Number.isNaN(atMs)) return
    this.#stop()
    const run = beginRun(atMs)
    this.#run = run
    this.problem.set(undefined)
    this.#play(run).catch((cause: unknown) => run.abort.signal.aborted || this.#fail(run, cause))
  }

  #fail(run: Run, cause: unknown): void {
    if (this.#run !== run) return
    run.hasEnded = true
    run.isSeeking = false
    run.decoder?.close()
    const isUnsupported = cause instanceof UnsupportedVideo
    if (!isUnsupported) console.warn('replay:', this.topic, cause)
    this.#retryAtMs = isUnsupported ? Number.POSITIVE_INFINITY : performance.now() + this.#retryDelay.failed()
    this.problem.set(
      isUnsupported ? 'unsupported' : cause instanceof RangeRefused ? 'unreadable' : 'undecodable',
    )
  }

  async #play(run: Run): Promise<void> {
    const { signal } = run.abort
    const start = await this.#keyframes.before(run.fromMs, signal)
    if (signal.aborted) return
    if (start === undefined) {
      run.isSeeking = false
      this.#show(undefined)
    }
    const toMs = Math.max(...this.#source.parts.get().map((part) => part.toMs))
    const messages = this.#source.messages({ topics: [this.topic], fromMs: start ?? run.fromMs, toMs })
    for await (const { atMs, data } of messages) {
      if (signal.aborted) return
      run.headMs = atMs
      this.#present()
      await this.#untilWanted(run, atMs)
      if (signal.aborted) return
      await this.#decode(run, decodeFrame(this.#schema, data), atMs)
    }
    await run.decoder?.flush()
    if (signal.aborted) return
    run.hasEnded = true
    this.#present()
    // A jump to where there is no frame is over too.
    run.isSeeking = false
  }

  async #decode(run: Run, frame: CompressedFrame, atMs: number): Promise<void> {
    const decoder = await this.#decoderFor(run, frame.format)
    if (!decoder) return
    if (isKeyframe(frame.format, frame.data)) this.#keyframes.add(atMs)
    run.activeMs = performance.now()
    await decoder.decode(frame, atMs)
  }

  /**
   * Returns the decoder of a format; undefined for a run that was stopped. A camera may change its format, for example when its
   * robot publishes it again.
   */
  async #decoderFor(run: Run, format: string): Promise<FrameDecoder | undefined> {
    if (run.decoder?.format === format) return run.decoder
    await run.decoder?.flush()
    if (run.abort.signal.aborted) return undefined
    run.decoder?.close()
    run.decoder = createFrameDecoder(format, {
      originMs: run.fromMs,
      onFrame: (decoded) => this.#onDecoded(run, decoded),
      onError: (cause) => this.#fail(run, cause),
    })
    return run.decoder
  }

  #onDecoded(run: Run, frame: DecodedFrame): void {
    if (this.#run !== run) return frame.close()
    run.activeMs = performance.now()
    this.#decoded.push(frame)
    this.#present()
    this.#wake?.()
  }

  async #untilWanted(run: Run, atMs: number): Promise<void> {
    const isEarly = () =>
      atMs > this.#targetMs(run) + AHEAD_MS ||
      this.#decoded.length >= MAX_DECODED ||
      (run.decoder?.pending() ?? 0) >= MAX_PENDING
    while (!run.abort.signal.aborted && isEarly()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }

  /** Returns the time to show: a jump first shows its picture, also while the user drags on. */
  #targetMs(run: Run): number {
    return run.isSeeking ? run.fromMs : this.#wantedMs
  }

  /** Shows the newest decoded picture up to the wanted time, once it is known that no newer one follows. */
  #present(): void {
    const run = this.#run
    if (!run) return
    const targetMs = this.#targetMs(run)
    while (this.#decoded[1] && this.#decoded[1].atMs <= targetMs) this.#decoded.shift()?.close()
    const next = this.#decoded[0]
    if (!next || next.atMs > targetMs) return
    const isNewest = this.#decoded[1] !== undefined || run.headMs > targetMs || run.hasEnded
    if (!isNewest) return
    if (this.#decoded[1] === undefined && (run.decoder?.pending() ?? 0) > 0 && run.isSeeking) return
    this.#decoded.shift()
    run.isSeeking = false
    this.#retryDelay.succeeded()
    this.#show(next)
  }

  #show(frame: DecodedFrame | undefined): void {
    this.#shown?.close()
    this.#shown = frame
    this.shown.set(this.#shown?.atMs)
    for (const canvas of this.#canvases) drawFrame(canvas, frame)
  }
}

/** One playing through the frames of a camera, from a keyframe on. */
type Run = ReturnType<typeof beginRun>

function beginRun(fromMs: number) {
  const nowMs = performance.now()
  return {
    abort: new AbortController(),
    fromMs,
    startedMs: nowMs,
    decoder: undefined as FrameDecoder | undefined,
    /** Time of the newest frame that was read. Everything before it is decoded or being decoded. */
    headMs: Number.NEGATIVE_INFINITY,
    /** Whether the picture of `fromMs` is still to come. */
    isSeeking: true,
    hasEnded: false,
    /** When the decoder last got or returned a frame, by `performance.now()`. */
    activeMs: nowMs,
  }
}

/** Draws a picture in its size on a canvas, or clears it. */
function drawFrame(canvas: HTMLCanvasElement, frame: DecodedFrame | undefined): void {
  const context = canvas.getContext('2d')
  if (!context) return
  if (!frame) return context.clearRect(0, 0, canvas.width, canvas.height)
  if (canvas.width !== frame.width) canvas.width = frame.width
  if (canvas.height !== frame.height) canvas.height = frame.height
  context.drawImage(frame.picture, 0, 0)
}

const US_PER_MS = 1_000

/** A decoded picture. It holds memory of the decoder until it is closed. */
interface DecodedFrame {
  readonly atMs: number
  readonly picture: VideoFrame | ImageBitmap
  readonly width: number
  readonly height: number
  close(): void
}

interface DecoderOptions {
  /** Times are counted from here, because decoders count in microseconds. */
  readonly originMs: number
  readonly onFrame: (frame: DecodedFrame) => void
  readonly onError: (cause: unknown) => void
}

/** Decodes the frames of one camera in order. The first frame must be a keyframe. */
interface FrameDecoder {
  readonly format: string
  /** Decodes a frame. Settles when the next one may be given. */
  decode(frame: CompressedFrame, atMs: number): Promise<void>
  /** Returns how many frames were given and not returned yet. */
  pending(): number
  /** Delivers the pictures that the decoder still holds. The next frame must be a keyframe. */
  flush(): Promise<void>
  close(): void
}

class UnsupportedVideo extends Error {}

const createFrameDecoder = (format: string, options: DecoderOptions): FrameDecoder =>
  format === 'vp8' || format === 'h264'
    ? createVideoDecoder(format, options)
    : createImageDecoder(format, options)

function createVideoDecoder(format: string, { originMs, onFrame, onError }: DecoderOptions): FrameDecoder {
  // Browsers have it on secure origins only.
  if (typeof VideoDecoder === 'undefined') throw new UnsupportedVideo()
  let given = 0
  let returned = 0
  let codec: string | undefined
  const decoder = new VideoDecoder({
    output: (picture) => {
      returned++
      onFrame({
        // Rounded as the time of the message is, so that both compare equal.
        atMs: Math.round(originMs * US_PER_MS + picture.timestamp) / US_PER_MS,
        picture,
        width: picture.displayWidth,
        height: picture.displayHeight,
        close: () => picture.close(),
      })
    },
    error: onError,
  })
  return {
    format,
    async decode(frame, atMs) {
      const isKey = isKeyframe(format, frame.data)
      const found = isKey ? codecOf(format, frame.data) : undefined
      if (found !== undefined && found !== codec) {
        codec = found
        decoder.configure({ codec, optimizeForLatency: true })
      }
      // Frames before the first keyframe cannot be decoded.
      if (codec === undefined || decoder.state !== 'configured') return
      given++
      decoder.decode(
        new EncodedVideoChunk({
          type: isKey ? 'key' : 'delta',
          timestamp: Math.round((atMs - originMs) * US_PER_MS),
          data: frame.data,
        }),
      )
    },
    pending: () => given - returned,
    async flush() {
      if (decoder.state === 'configured') await decoder.flush()
    },
    close() {
      if (decoder.state !== 'closed') decoder.close()
    },
  }
}

function createImageDecoder(format: string, { onFrame, onError }: DecoderOptions): FrameDecoder {
  let isClosed = false
  let pending = 0
  return {
    format,
    async decode({ data }, atMs) {
      pending++
      try {
        const picture = await createImageBitmap(new Blob([new Uint8Array(data)], { type: 'image/jpeg' }))
        const { width, height } = picture
        if (isClosed) picture.close()
        else onFrame({ atMs, picture, width, height, close: () => picture.close() })
      } catch (cause) {
        onError(cause)
      } finally {
        pending--
      }
    },
    pending: () => pending,
    flush: async () => undefined,
    close() {
      isClosed = true
    },
  }
}

/** A message of a camera: `foxglove.CompressedVideo` or `foxglove.CompressedImage`. */
export interface CompressedFrame {
  /** `vp8` and `h264` for video, `jpeg` for pictures. */
  readonly format: string
  readonly data: Uint8Array
}

export type FrameSchema = 'foxglove.CompressedVideo' | 'foxglove.CompressedImage'

/** The numbers of the fields, by schema. The others, the time stamp and the name of the camera, are not needed. */
const FIELDS: Readonly<Record<FrameSchema, { readonly data: number; readonly format: number }>> = {
  'foxglove.CompressedVideo': { data: 3, format: 4 },
  'foxglove.CompressedImage': { data: 2, format: 3 },
}
const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5]
const MAX_VARINT_BYTES = 10

const text = new TextDecoder()

export const isFrameSchema = (name: string | undefined): name is FrameSchema =>
  name !== undefined && Object.hasOwn(FIELDS, name)

/**
 * Reads a message in the wire format of Protocol Buffers. A library for two fields would be larger than the player.
 * @throws RangeError for a message that is cut off or no such message
 */
export function decodeFrame(schema: FrameSchema, message: Uint8Array): CompressedFrame {
  const fields = FIELDS[schema]
  let format = ''
  let data = new Uint8Array()
  for (const { field, bytes } of lengthFields(message)) {
    if (field === fields.data) data = bytes
    else if (field === fields.format) format = text.decode(bytes)
  }
  return { format, data }
}

function* lengthFields(message: Uint8Array): Generator<{ field: number; bytes: Uint8Array<ArrayBuffer> }> {
  let at = 0
  const skip = (bytes: number) => {
    at += bytes
    if (at > message.length) throw new RangeError('a field is cut off')
  }
  const readVarint = () => {
    let value = 0
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = message[at++]
      if (byte === undefined) throw new RangeError('a number is cut off')
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    throw new RangeError('a number is too long')
  }
  while (at < message.length) {
    const tag = readVarint()
    const [field, type] = [Math.floor(tag / 8), tag % 8]
    if (type === VARINT) readVarint()
    else if (type === FIXED64) skip(8)
    else if (type === FIXED32) skip(4)
    else if (type === LENGTH) {
      const length = readVarint()
      const start = at
      skip(length)
      yield { field, bytes: message.subarray(start, at) as Uint8Array<ArrayBuffer> }
    } else throw new RangeError('a field has an unknown wire type')
  }
}

const NAL_TYPE = 0x1f
const [NAL_IDR, NAL_SPS] = [5, 7]

/** Returns whether a frame can be decoded without the ones before. Pictures always can. */
export function isKeyframe(format: string, data: Uint8Array): boolean {
  if (format === 'vp8') return data.length > 0 && ((data[0] ?? 1) & 1) === 0
  if (format === 'h264') return nalUnits(data).some(({ type }) => type === NAL_IDR)
  return true
}

/** Returns the codec of a keyframe as WebCodecs names it; undefined for a picture, and for a keyframe without parameters. */
export function codecOf(format: string, keyframe: Uint8Array): string | undefined {
  if (format === 'vp8') return 'vp8'
  if (format !== 'h264') return undefined
  const sps = nalUnits(keyframe).find(({ type }) => type === NAL_SPS)
  if (!sps) return undefined
  // Profile, constraints and level follow the type of the unit.
  const profile = keyframe.subarray(sps.start + 1, sps.start + 4)
  return profile.length === 3 ? `avc1.${hex(profile)}` : undefined
}

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the units of an Annex B stream, up to its first slice: the units before it determine the type of the frame. */
function nalUnits(data: Uint8Array): { type: number; start: number }[] {
  const units: { type: number; start: number }[] = []
  for (let at = 0; at + 3 < data.length; at++) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue
    const type = (data[at + 3] ?? 0) & NAL_TYPE
    units.push({ type, start: at + 3 })
    if (type >= 1 && type <= NAL_IDR) break
    at += 3
  }
  return units
}

/** Known keyframes of a camera: a list of numbers, so that much is possible. */
const MAX_KNOWN = 20_000
/** A keyframe that is known is used when the camera sends one at least this often. */
const USABLE_MS = 2_500

/** Finds the frames of a camera that a decoder can begin with, and remembers them. */
export function createKeyframeFinder(source: RecordingSource, topic: string, schema: FrameSchema) {
  const known: number[] = []
  const isStart = (data: Uint8Array) => {
    const frame = decodeFrame(schema, data)
    return isKeyframe(frame.format, frame.data)
  }

  return {
    add(atMs: number): void {
      const index = known.findLastIndex((ms) => ms <= atMs)
      if (known[index] === atMs) return
      known.splice(index + 1, 0, atMs)
      if (known.length > MAX_KNOWN) known.shift()
    },

    /** Returns the time of the last keyframe up to a time; undefined without one. */
    async before(atMs: number, signal: AbortSignal): Promise<number | undefined> {
      const near = known.findLast((ms) => ms <= atMs)
      if (near !== undefined && atMs - near < USABLE_MS) return near
      const query = { topics: [topic], fromMs: 0, toMs: atMs, reverse: true }
      for await (const message of source.messages(query)) {
        if (signal.aborted) return undefined
        if (message.atMs === near || isStart(message.data)) {
          this.add(message.atMs)
          return message.atMs
        }
      }
      return undefined
    },
  }
}
