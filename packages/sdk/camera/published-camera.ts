import { CAMERA_NAME, UNWATCHED_BITS_PER_SECOND } from '@wheelhouse/protocol'
import { loadMediaLibrary } from '#webrtc'
import { Backoff } from '../backoff.ts'
import type { MediaIceServer, MediaLibrary } from '../media-library.ts'
import { safeCallback } from '../safe-callback.ts'
import { CameraConnection } from './camera-connection.ts'
import type { CameraOptions, CameraState } from './camera-options.ts'

/** Returns whether cameras can be published: the package `node-datachannel` is installed, and this is the main thread. */
export const canPublishCameras = async (): Promise<boolean> => (await loadMediaLibrary()) !== undefined

/** Delays between attempts. */
const RETRY = { baseMs: 250, maxMs: 5_000 }

/** A camera that a robot publishes. It connects again after every failure, until it is closed. */
export class PublishedCamera {
  readonly #options: CameraOptions
  readonly #address: () => { url: string; token: string } | undefined
  readonly #backoff = new Backoff(RETRY)
  #library: MediaLibrary | undefined
  #connection: CameraConnection | undefined
  #iceServers: MediaIceServer[] = []
  #retryTimer: NodeJS.Timeout | undefined
  #state: CameraState = 'connecting'
  #isWatched: boolean | undefined

  /** `address` returns where to publish; undefined while the robot is not connected. */
  constructor(options: CameraOptions, address: () => { url: string; token: string } | undefined) {
    if (!CAMERA_NAME.test(options.name))
      throw new TypeError('name must be 1 to 32 lower-case letters, digits, - and _')
    this.#options = options
    this.#address = address
    void this.#start()
  }

  get state(): CameraState {
    return this.#state
  }

  /**
   * Sends one encoded frame: a VP8 frame, or an H.264 access unit in the byte-stream format with its parameter sets before each
   * keyframe. The camera never queues frames.
   * @param captureMs Unix time of the capture in milliseconds.
   * @returns false if the frame was dropped: offline, or not a keyframe although the connection needs one.
   */
  send(frame: Uint8Array, captureMs = Date.now()): boolean {
    return this.#connection?.send(frame, captureMs) ?? false
  }

  /** Stops publishing. */
  async close(): Promise<void> {
    clearTimeout(this.#retryTimer)
    const connection = this.#connection
    this.#connection = undefined
    this.#setState('closed')
    await connection?.close()
  }

  async #start(): Promise<void> {
    this.#library ??= await loadMediaLibrary()
    if (this.#state === 'closed') return
    if (!this.#library) {
      this.#report(new Error('Publishing a camera needs the package node-datachannel in the main thread'))
      return this.#setState('offline')
    }
    this.#connect(this.#library)
  }

  #connect(library: MediaLibrary): void {
    const address = this.#address()
    if (!address) return this.#retry()
    try {
      this.#connection = new CameraConnection({
        library,
        url: `${address.url}/${this.#options.name}`,
        token: address.token,
        codec: this.#options.codec ?? 'VP8',
        iceServers: this.#iceServers,
        onKeyframeNeeded: () => this.#call(() => this.#options.onKeyframeNeeded?.()),
        onBitrate: (bitsPerSecond) => this.#allowed(bitsPerSecond),
        onOpen: () => this.#opened(),
        onEnd: (cause, iceServers) => this.#ended(cause, iceServers),
      })
    } catch (cause) {
      this.#ended(cause, [])
    }
  }

  #allowed(bitsPerSecond: number): void {
    const isWatched = bitsPerSecond !== UNWATCHED_BITS_PER_SECOND
    if (isWatched !== this.#isWatched) this.#call(() => this.#options.onWatched?.(isWatched))
    this.#isWatched = isWatched
    this.#call(() => this.#options.onBitrate?.(bitsPerSecond))
  }

  #opened(): void {
    this.#backoff.reset()
    this.#setState('live')
    this.#call(() => this.#options.onKeyframeNeeded?.())
  }

  /** Tries again, over the TURN servers that the platform named. */
  #ended(cause: unknown, iceServers: MediaIceServer[]): void {
    this.#connection = undefined
    this.#iceServers = iceServers
    if (this.#state === 'closed') return
    this.#report(cause)
    this.#setState('offline')
    this.#retry()
  }

  #retry(): void {
    this.#retryTimer = setTimeout(() => {
      this.#setState('connecting')
      void this.#start()
    }, this.#backoff.nextDelayMs())
  }

  #setState(state: CameraState): void {
    if (this.#state === state || this.#state === 'closed') return
    this.#state = state
    this.#call(() => this.#options.onState?.(state))
  }

  #report(cause: unknown): void {
    this.#call(() => this.#options.onError?.(cause))
  }

  #call(work: () => void): void {
    safeCallback(this.#options.onError, work)
  }
}
