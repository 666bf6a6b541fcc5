import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Backoff, canPublishCameras, type PublishedCamera, type RobotLink } from '@wheelhouse/sdk'
import type { CameraEntry, RobotConfig } from './config.ts'
import { Encoder, type PictureFormat } from './encoder.ts'
import { bytesAt, numberAt, stampMsOf, textAt } from './readings.ts'
import { RateLimit } from './source.ts'

/** Pictures a second while nobody watches: enough to begin at once. */
const UNWATCHED_FPS = 1
/** The encoder is started again for a bitrate that differs by more than this factor, at most once in five seconds. */
const BITRATE_FACTOR = 1.5
const BITRATE_CHANGE_MS = 5_000
/** A younger keyframe is not repeated for a viewer. */
const KEYFRAME_MS = 1_000
const RETRY = { baseMs: 500, maxMs: 10_000 }
/** A stamp that differs more from the present is of another clock, such as that of a simulation. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

/** Pixels of sensor_msgs/Image, as ffmpeg names them, and their bytes. */
const pixelFormats: Readonly<Record<string, readonly [name: string, bytes: number]>> = {
  rgb8: ['rgb24', 3],
  bgr8: ['bgr24', 3],
  rgba8: ['rgba', 4],
  bgra8: ['bgra', 4],
  mono8: ['gray', 1],
  yuv422: ['uyvy422', 2],
  yuv422_yuy2: ['yuyv422', 2],
}

interface CameraPublisherOptions {
  readonly entry: CameraEntry
  readonly link: RobotLink
  readonly mjpeg: RobotConfig['mjpeg']
  /** Called with problems. */
  readonly report: (problem: string) => void
  /** Called with what the user should know. */
  readonly note: (line: string) => void
}

type Mode = 'undecided' | 'deciding' | 'h264' | 'mjpeg' | 'closed'

/**
 * Publishes the pictures of a topic as a camera of the robot: as H.264 with ffmpeg and `node-datachannel`, otherwise as MJPEG at an
 * address of this machine.
 */
export class CameraPublisher {
  readonly #options: CameraPublisherOptions
  readonly #backoff = new Backoff(RETRY)
  readonly #unwatched = new RateLimit(UNWATCHED_FPS)
  #mode: Mode = 'undecided'
  #camera: PublishedCamera | undefined
  #server: MjpegServer | undefined
  #encoder: Encoder | undefined
  #format: PictureFormat | undefined
  #kbps: number
  #allowedKbps: number
  #kbpsSinceMs = Number.NEGATIVE_INFINITY
  #keyframeMs = Number.NEGATIVE_INFINITY
  #retryAtMs = 0
  #isWatched = true

  constructor(options: CameraPublisherOptions) {
    this.#options = options
    this.#kbps = this.#allowedKbps = options.entry.max_kbps
  }

  /** Handles a sensor_msgs/CompressedImage or sensor_msgs/Image. Never waits: a picture that cannot be encoded now is dropped. */
  picture(message: unknown): void {
    if (this.#mode === 'undecided') void this.#decide()
    if (this.#mode === 'mjpeg') return this.#serve(message)
    if (this.#mode !== 'h264') return
    const nowMs = performance.now()
    if (!this.#isWatched && !this.#unwatched.admits(nowMs)) return
    const picture = pictureOf(message, this.#options.entry.type)
    if (typeof picture === 'string') return this.#report(picture)
    this.#encoderFor(picture.format, nowMs)?.encode(picture.bytes, captureMsOf(message))
  }

  async close(): Promise<void> {
    this.#mode = 'closed'
    this.#encoder?.close()
    this.#server?.close()
    await this.#camera?.close()
  }

  async #decide(): Promise<void> {
    this.#mode = 'deciding'
    if (await canPublishCameras()) this.#publish()
    else await this.#startServer('the package node-datachannel is not installed')
  }

  #publish(): void {
    if (this.#mode !== 'deciding') return
    this.#mode = 'h264'
    const { link, entry } = this.#options
    this.#camera = link.publishCamera({
      name: entry.name,
      codec: 'H264',
      onKeyframeNeeded: () => {
        // ffmpeg makes a keyframe on request only when it starts.
        if (performance.now() - this.#keyframeMs > KEYFRAME_MS) this.#restart()
      },
      onBitrate: (bitsPerSecond) => {
        this.#allowedKbps = Math.min(entry.max_kbps, bitsPerSecond / 1_000)
      },
      onWatched: (isWatched) => {
        this.#isWatched = isWatched
      },
      onError: (cause) => this.#report(cause instanceof Error ? cause.message : String(cause)),
    })
  }

  async #startServer(why: string): Promise<void> {
    const { mjpeg, entry, note } = this.#options
    const server = new MjpegServer()
    try {
      const address = await server.listen(mjpeg.host, mjpeg.port)
      if (this.#mode === 'closed') return server.close()
      this.#server = server
      this.#mode = 'mjpeg'
      note(`camera ${entry.name}: MJPEG at ${address}, because ${why}. Set the robot's stream_url to it.`)
    } catch (cause) {
      this.#report(`MJPEG cannot be served: ${(cause as Error).message}`)
    }
  }

  #serve(message: unknown): void {
    const picture = pictureOf(message, this.#options.entry.type)
    if (typeof picture === 'string') return this.#report(picture)
    if (picture.format.kind === 'raw')
      return this.#report('pixels need ffmpeg and the package node-datachannel')
    this.#server?.send(picture.bytes)
  }

  /** Returns the encoder for pictures of a format; undefined while a failed one waits. */
  #encoderFor(format: PictureFormat, nowMs: number): Encoder | undefined {
    const factor = this.#allowedKbps / this.#kbps
    const isOff = factor > BITRATE_FACTOR || factor < 1 / BITRATE_FACTOR
    if (isOff && nowMs - this.#kbpsSinceMs > BITRATE_CHANGE_MS) this.#restart()
    if (JSON.stringify(format) !== JSON.stringify(this.#format)) this.#restart()
    if (this.#encoder || nowMs < this.#retryAtMs) return this.#encoder
    this.#format = format
    this.#kbps = this.#allowedKbps
    this.#kbpsSinceMs = nowMs
    this.#encoder = new Encoder({
      format,
      fps: this.#options.entry.fps,
      kbps: this.#kbps,
      onFrame: (frame, captureMs, isKeyframe) => {
        this.#backoff.reset()
        if (isKeyframe) this.#keyframeMs = performance.now()
        this.#camera?.send(frame, captureMs)
      },
      onEnd: (reason, isMissing) => this.#encoderEnded(reason, isMissing),
    })
    return this.#encoder
  }

  #restart(): void {
    this.#encoder?.close()
    this.#encoder = undefined
  }

  #encoderEnded(reason: string, isMissing: boolean): void {
    this.#encoder = undefined
    if (this.#mode !== 'h264') return
    if (isMissing) {
      this.#mode = 'deciding'
      void this.#camera?.close()
      void this.#startServer('ffmpeg is not installed')
      return
    }
    this.#retryAtMs = performance.now() + this.#backoff.nextDelayMs()
    this.#report(reason)
  }

  #report(problem: string): void {
    this.#options.report(`camera ${this.#options.entry.name}: ${problem}`)
  }
}

/** Returns the picture of a message, or why it cannot be shown. */
function pictureOf(
  message: unknown,
  type: CameraEntry['type'],
): { readonly bytes: Uint8Array; readonly format: PictureFormat } | string {
  const bytes = bytesAt(message, 'data')
  if (type === 'sensor_msgs/CompressedImage') {
    const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8
    return isJpeg ? { bytes, format: { kind: 'jpeg' } } : `${textAt(message, 'format')} is no JPEG`
  }
  const encoding = textAt(message, 'encoding')
  const [pixels, pixelBytes] = pixelFormats[encoding] ?? ['', 0]
  const [width, height] = [numberAt(message, 'width') ?? 0, numberAt(message, 'height') ?? 0]
  const rowBytes = width * pixelBytes
  const step = numberAt(message, 'step') || rowBytes
  if (rowBytes === 0 || height === 0 || step < rowBytes || bytes.length < step * (height - 1) + rowBytes)
    return `pixels of the encoding "${encoding}" cannot be read`
  const format = { kind: 'raw', pixels, width, height } as const
  if (step === rowBytes) return { bytes: bytes.subarray(0, rowBytes * height), format }
  const packed = Buffer.allocUnsafe(rowBytes * height)
  for (let row = 0; row < height; row++)
    packed.set(bytes.subarray(row * step, row * step + rowBytes), row * rowBytes)
  return { bytes: packed, format }
}

/** Returns when a picture was captured, in Unix milliseconds, or now where its time is of another clock. */
function captureMsOf(message: unknown): number {
  const nowMs = Date.now()
  const stampMs = stampMsOf(message) ?? nowMs
  return Math.abs(stampMs - nowMs) > MAX_CLOCK_DIFFERENCE_MS ? nowMs : stampMs
}

/** Viewers of one camera. */
const MAX_VIEWERS = 8
/** A viewer with this many unsent bytes gets no further pictures until it has read them. */
const MAX_UNSENT_BYTES = 512 * 1024

/** Serves the pictures of a camera as MJPEG over HTTP, the newest one to each viewer. */
export class MjpegServer {
  readonly #server = createServer((request, response) => this.#view(request.method, response))
  readonly #viewers = new Set<ServerResponse>()

  constructor() {
    this.#server.maxConnections = 2 * MAX_VIEWERS // some are refused politely
  }

  /** Resolves with the address of the stream. @throws Error if the address cannot be used */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, () => resolve())
    })
    this.#server.on('error', () => {}) // of single connections
    const { port: actual } = this.#server.address() as AddressInfo
    return `http://${host.includes(':') ? `[${host}]` : host}:${actual}/`
  }

  send(picture: Uint8Array): void {
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > MAX_UNSENT_BYTES) continue
      viewer.write(`--picture\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`)
      viewer.write(picture)
      viewer.write('\r\n')
    }
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #view(method: string | undefined, response: ServerResponse): void {
    if (method !== 'GET') return void response.writeHead(405).end()
    if (this.#viewers.size >= MAX_VIEWERS) return void response.writeHead(503).end()
    response.writeHead(200, {
      'Content-Type': 'multipart/x-mixed-replace; boundary=picture',
      'Cache-Control': 'no-store',
    })
    response.flushHeaders() // also before the first picture
    this.#viewers.add(response)
    response.on('error', () => {}) // `close` follows
    response.on('close', () => this.#viewers.delete(response))
  }
}
