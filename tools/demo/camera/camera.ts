import type { ServerResponse } from 'node:http'
import { singleFlight, withTimeout } from '../../../src/core/concurrency/concurrency.ts'

/** Everybody who looks through one camera; whoever comes later is refused. */
export const MAX_VIEWERS = 8
const FRAME_MS = 100
/** Who has taken nothing for so long is gone, or will never catch up. */
const BLOCKED_MS = 10_000
/** How long viewers have at the end to take what was sent. */
const DRAIN_MS = 500

const BOUNDARY = 'frame'
export const STREAM_TYPE = `multipart/x-mixed-replace; boundary=${BOUNDARY}`

/** Somebody who looks on, and since when they have not taken the newest frame. */
interface Viewer {
  readonly response: ServerResponse
  behindSinceMs: number | null
}

export interface CameraOptions {
  /** Makes a JPEG; never called again before it has settled. */
  readonly picture: () => Promise<Buffer>
  /** Told of pictures that could not be made. */
  readonly report: (cause: unknown) => void
  /** Who has taken nothing for so long is cut off. Default: ten seconds. */
  readonly blockedMs?: number
}

/**
 * A camera that many look through: every picture is made once for all of them, and none while nobody looks. A viewer
 * who does not keep up misses frames, so that at most one of them waits in our memory.
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

  /** How many look on. */
  get viewers(): number {
    return this.#viewers.size
  }

  /** Whether one more may look on. */
  get isOpen(): boolean {
    return !this.#closed && this.#viewers.size < MAX_VIEWERS
  }

  /** One picture, no older than a frame lasts. Rejects if it cannot be made. */
  async snapshot(): Promise<Buffer> {
    if (this.#newest && performance.now() - this.#newest.atMs < FRAME_MS) return this.#newest.jpeg
    return await this.#make()
  }

  /**
   * Sends frames as the body of this answer, whose headers are the caller's, from now until the viewer leaves or the
   * camera is closed. Ask `isOpen` first.
   */
  streamTo(response: ServerResponse): void {
    if (response.destroyed) return
    const viewer: Viewer = { response, behindSinceMs: null }
    this.#viewers.add(viewer)
    response.once('close', () => this.#leave(viewer))
    response.on('error', () => {}) // 'close' follows
    // Browsers show a frame when they have read the boundary behind it, so each one is sent with its own.
    response.write(`--${BOUNDARY}`)
    this.#timer ??= setInterval(this.#turn, FRAME_MS)
    void this.#turn()
  }

  /** Sends everybody away and takes nobody any more; settles when they have gone. */
  async close(): Promise<void> {
    this.#closed = true
    const closing = [...this.#viewers].map(async ({ response }) => {
      const closed = new Promise<void>((resolve) => response.once('close', resolve))
      response.end('--\r\n')
      await withTimeout(DRAIN_MS, 'the viewer does not read', closed).catch(() => response.destroy())
      await closed
    })
    await Promise.all(closing)
    await this.#making?.catch(() => {}) // whoever asked for it is told
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
    // What the last frame's `write` could not pass on to the system is still here.
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
