import { createRequire } from 'node:module'
import type { PublishedCamera, RobotLink } from '@wheelhouse/sdk'
import type { View } from './picture.ts'

// The part of WebCodecs (W3C) that encodes a view. Its types are of browsers otherwise.

interface EncodedChunk {
  readonly byteLength: number
  /** Microseconds, as given with the frame. */
  readonly timestamp: number
  copyTo(destination: Uint8Array): void
}

interface Frame {
  close(): void
}

/** Encodes frames one after the other, in another thread. */
interface VideoEncoder {
  /** Frames that wait for the encoder. */
  readonly encodeQueueSize: number
  configure(configuration: {
    /** H.264 is encoded in a quarter of the time of VP8, and browsers have to play both (RFC 7742). */
    codec: 'vp8' | 'avc1.42e01f'
    /** With start codes, and with its parameters in every keyframe. */
    avc?: { format: 'annexb' }
    width: number
    height: number
    bitrate: number
    framerate: number
    latencyMode: 'realtime'
    hardwareAcceleration: 'prefer-software'
  }): void
  encode(frame: Frame, options: { keyFrame: boolean }): void
  close(): void
}

interface VideoCodecs {
  readonly VideoEncoder: new (callbacks: {
    output: (chunk: EncodedChunk) => void
    error: (cause: Error) => void
  }) => VideoEncoder
  readonly VideoFrame: new (
    pixels: Uint8Array,
    layout: { format: 'RGBA'; codedWidth: number; codedHeight: number; timestamp: number },
  ) => Frame
}

/** The packages with the encoder, for both C libraries of Linux. */
const PACKAGES = ['@napi-rs/webcodecs-linux-x64-gnu', '@napi-rs/webcodecs-linux-x64-musl']

/** Returns the encoder; undefined on systems for which none is installed. */
export function loadVideoCodecs(): VideoCodecs | undefined {
  const load = createRequire(import.meta.url)
  for (const name of PACKAGES) {
    try {
      return load(name) as VideoCodecs
    } catch {
      // It is not installed on this system.
    }
  }
  return undefined
}

const FRAME_MS = 66
/** The time between frames while no client watches, which saves a third of a core: the platform forgets a camera after ten seconds. */
const UNWATCHED_FRAME_MS = 3_000
/** More improves the picture little, and costs the encoder time: 1.5 Mbit/s for 1280 by 720. */
const BITS_PER_PIXEL_AND_SECOND = 1.6
/** A smaller change of the bitrate is not worth the keyframe that a new configuration costs. */
const LEAST_CHANGE = 0.3

interface Options {
  readonly link: RobotLink
  /** Of the camera. */
  readonly name: string
  readonly view: View
  /** Called when the platform receives the camera, at every connection. */
  readonly onLive?: () => void
  /** Reports failed attempts to connect, which are repeated, and errors of the encoder. */
  readonly onError: (cause: unknown) => void
}

/**
 * Publishes the view of a simulated robot over WebRTC, as H.264. Returns undefined where the encoder is not available: then its MJPEG
 * remains.
 */
export function publishView(options: Options): PublishedView | undefined {
  const codecs = loadVideoCodecs()
  return codecs && new PublishedView(codecs, options)
}

/** The view of a simulated robot as a published camera. */
export class PublishedView {
  readonly #codecs: VideoCodecs
  readonly #options: Options
  readonly #camera: PublishedCamera
  readonly #timer: NodeJS.Timeout
  #encoder: VideoEncoder | undefined
  readonly #maxBitsPerSecond: number
  #bitsPerSecond: number
  #isWatched = false
  #isKeyframeNeeded = true
  #encodedAtMs = 0

  constructor(codecs: VideoCodecs, options: Options) {
    this.#codecs = codecs
    this.#options = options
    this.#maxBitsPerSecond = BITS_PER_PIXEL_AND_SECOND * options.view.width * options.view.height
    this.#bitsPerSecond = this.#maxBitsPerSecond
    this.#camera = options.link.publishCamera({
      name: options.name,
      codec: 'H264',
      onKeyframeNeeded: () => {
        this.#isKeyframeNeeded = true
      },
      onBitrate: (bitsPerSecond) => this.#setBitrate(bitsPerSecond),
      onWatched: (isWatched) => {
        this.#isWatched = isWatched
      },
      onState: (state) => state === 'live' && options.onLive?.(),
      onError: options.onError,
    })
    this.#timer = setInterval(() => this.#encode(), FRAME_MS)
  }

  #setBitrate(bitsPerSecond: number): void {
    const wanted = Math.min(bitsPerSecond, this.#maxBitsPerSecond)
    if (!this.#isWatched || Math.abs(wanted / this.#bitsPerSecond - 1) < LEAST_CHANGE) return
    this.#bitsPerSecond = wanted
    this.#closeEncoder() // the next frame opens one with this bitrate
  }

  #encode(): void {
    const nowMs = Date.now()
    const sinceMs = nowMs - this.#encodedAtMs
    const isDue = this.#isWatched || this.#isKeyframeNeeded || sinceMs >= UNWATCHED_FRAME_MS
    if (this.#camera.state !== 'live' || !isDue) return
    try {
      this.#encoder ??= this.#openEncoder()
      if (this.#encoder.encodeQueueSize > 1) return // it is too slow for every frame
      this.#encodedAtMs = nowMs
      const { view } = this.#options
      const { width, height } = view
      const size = { codedWidth: width, codedHeight: height }
      const frame = new this.#codecs.VideoFrame(view.draw(), {
        format: 'RGBA',
        ...size,
        timestamp: nowMs * 1_000,
      })
      this.#encoder.encode(frame, { keyFrame: this.#isKeyframeNeeded })
      frame.close()
      this.#isKeyframeNeeded = false
    } catch (cause) {
      this.#failed(cause)
    }
  }

  #openEncoder(): VideoEncoder {
    const { width, height } = this.#options.view
    const encoder = new this.#codecs.VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength)
        chunk.copyTo(bytes)
        this.#camera.send(bytes, chunk.timestamp / 1_000)
      },
      error: (cause) => this.#failed(cause),
    })
    encoder.configure({
      codec: 'avc1.42e01f',
      avc: { format: 'annexb' },
      width,
      height,
      bitrate: this.#bitsPerSecond,
      framerate: 1_000 / FRAME_MS,
      latencyMode: 'realtime',
      hardwareAcceleration: 'prefer-software', // cards differ in what they accept
    })
    this.#isKeyframeNeeded = true
    return encoder
  }

  /** Reports an error. The next frame opens another encoder. */
  #failed(cause: unknown): void {
    this.#closeEncoder()
    this.#options.onError(cause)
  }

  #closeEncoder(): void {
    const encoder = this.#encoder
    this.#encoder = undefined
    try {
      encoder?.close()
    } catch {
      // It has closed itself after an error.
    }
  }

  /** Stops publishing. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closeEncoder()
    await this.#camera.close()
  }
}
