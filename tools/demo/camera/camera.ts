import type { ServerResponse } from 'node:http'
import pTimeout from 'p-timeout'
import { singleFlight } from '../../../src/core/concurrency/concurrency.ts'

/** Maximum number of viewers of one camera; later ones are refused. */
export const MAX_VIEWERS = 8
const FRAME_MS = 66
/** A viewer that has read nothing for this long is disconnected. */
const BLOCKED_MS = 10_000
/** Time that viewers have at the end to read the last frames. */
const DRAIN_MS = 500

const BOUNDARY = 'frame'
export const STREAM_TYPE = `multipart/x-mixed-replace; boundary=${BOUNDARY}`

/** A viewer, and the time since which it has not read the newest frame. */
interface Viewer {
  readonly response: ServerResponse
  behindSinceMs: number | null
}

export interface CameraOptions {
  /** Makes a JPEG. The next call follows only after the previous one has settled. */
  readonly picture: () => Promise<Buffer>
  /** Reports a picture that could not be made. */
  readonly report: (cause: unknown) => void
  /** Maximum time that a viewer may read nothing. Default: ten seconds. */
  readonly blockedMs?: number
}

/**
 * A camera with many viewers: every picture is made once for all of them, and only while there are viewers. A slow
 * viewer misses frames, so that at most one frame per viewer is in memory.
 */
export class Camera {
  readonly #options: CameraOptions
  readonly #viewers = new Set<Viewer>()
  readonly #turn = singleFlight(() => this.#sendFrame())
  #timer: NodeJS.Timeout | undefined
  #making: Promise<Buffer> | undefined
  #newest: { readonly jpeg: Buffer; readonly atMs: number } | undefined
  #closed = false

  constructor(options: CameraOptions) {
    this.#options = options
  }

  /** The number of viewers. */
  get viewers(): number {
    return this.#viewers.size
  }

  /** Whether another viewer is accepted. */
  get isOpen(): boolean {
    return !this.#closed && this.#viewers.size < MAX_VIEWERS
  }

  /** Returns a picture that is at most one frame old. Rejects if it cannot be made. */
  async snapshot(): Promise<Buffer> {
    if (this.#newest && performance.now() - this.#newest.atMs < FRAME_MS) return this.#newest.jpeg
    return await this.#make()
  }

  /**
   * Sends frames as the body of this answer, whose headers the caller has set, until the viewer disconnects or the
   * camera is closed. Check `isOpen` first.
   */
  streamTo(response: ServerResponse): void {
    if (response.destroyed) return
    const viewer: Viewer = { response, behindSinceMs: null }
    this.#viewers.add(viewer)
    response.once('close', () => this.#leave(viewer))
    response.on('error', () => {}) // 'close' follows
    // Browsers show a frame after the boundary that follows it, so each frame is sent with its own.
    response.write(`--${BOUNDARY}`)
    this.#timer ??= setInterval(this.#turn, FRAME_MS)
    void this.#turn()
  }

  /** Disconnects all viewers and refuses new ones; settles when all have disconnected. */
  async close(): Promise<void> {
    this.#closed = true
    const closing = [...this.#viewers].map(async ({ response }) => {
      const closed = new Promise<void>((resolve) => response.once('close', resolve))
      response.end('--\r\n')
      await pTimeout(closed, { milliseconds: DRAIN_MS, fallback: () => void response.destroy() })
      await closed
    })
    await Promise.all(closing)
    await this.#making?.catch(() => {}) // its callers get the error
  }

  #make(): Promise<Buffer> {
    const startedMs = performance.now()
    this.#making ??= this.#options
      .picture()
      .then((jpeg) => {
        this.#newest = { jpeg, atMs: startedMs }
        return jpeg
      })
      .finally(() => {
        this.#making = undefined
      })
    return this.#making
  }

  async #sendFrame(): Promise<void> {
    try {
      const jpeg = await this.#make()
      const head = `\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`
      const part = Buffer.concat([Buffer.from(head), jpeg, Buffer.from(`\r\n--${BOUNDARY}`)])
      for (const viewer of this.#viewers) this.#send(viewer, part)
    } catch (cause) {
      this.#options.report(cause)
    }
  }

  #send(viewer: Viewer, part: Buffer): void {
    const { response } = viewer
    if (response.writableEnded) return
    const nowMs = performance.now()
    // The system has not accepted all of the last frame's `write` yet.
    if (response.writableLength > 0) {
      viewer.behindSinceMs ??= nowMs
      if (nowMs - viewer.behindSinceMs > (this.#options.blockedMs ?? BLOCKED_MS)) response.destroy()
      return
    }
    const hasCapacity = response.write(part)
    viewer.behindSinceMs = hasCapacity ? null : nowMs
  }

  #leave(viewer: Viewer): void {
    this.#viewers.delete(viewer)
    if (this.#viewers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
