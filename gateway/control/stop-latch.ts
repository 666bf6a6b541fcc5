import type { DriveStop } from '@wheelhouse/protocol'

/** The robot must confirm a latched stop within this time, or the gateway sends the stop again. */
const REPEAT_STOP_MS = 1_000
/** A stop that is requested again is sent again at once, but at most this often. */
const MIN_RESEND_MS = 250

/**
 * The stop in force for the robot of one session. A latched stop stays until it is cleared; any other one ends with the
 * next control frame that passes.
 */
export class StopLatch {
  #stop: DriveStop | null = null
  /** When the latched stop was last sent; 0 while no stop is latched. */
  #sentMs = 0
  /** Whether the robot still has to confirm the latched stop. */
  #unconfirmed = false

  get stop(): DriveStop | null {
    return this.#stop
  }

  get latched(): boolean {
    return this.#stop?.latched === true
  }

  /** Latches a stop. Returns false if a stop with this reason was latched already, so that the robot knows it. */
  latch(reason: string, recorded: boolean, nowMs: number): boolean {
    const known = this.latched && this.#stop?.reason === reason
    this.#stop = { reason, latched: true, recorded }
    if (!known) this.#markSent(nowMs)
    return !known
  }

  /** Notes a stop that ends with the next control frame, unless a stop is latched. */
  halt(reason: string): void {
    if (!this.latched) this.#stop = { reason, latched: false, recorded: false }
  }

  clear(): void {
    this.#stop = null
    this.#sentMs = 0
    this.#unconfirmed = false
  }

  markRecorded(): void {
    if (this.#stop) this.#stop = { ...this.#stop, recorded: true }
  }

  /** Notes that the robot's new connection learns of the latched stop from its welcome. */
  announced(nowMs: number): void {
    if (this.latched) this.#markSent(nowMs)
  }

  /** Ends the repetition: the robot has confirmed the stop, or is disconnected. */
  confirm(): void {
    this.#unconfirmed = false
  }

  /** Returns the stop to send again now, if one is due. */
  takeRepetition(nowMs: number): DriveStop | null {
    if (!this.#unconfirmed || nowMs - this.#sentMs < REPEAT_STOP_MS) return null
    this.#markSent(nowMs)
    return this.#stop
  }

  /**
   * Returns the stop to send again now because it is requested again: the requester may see a moving robot. Returns
   * null if it was sent a moment ago; it is then repeated later unless the robot confirms it.
   */
  takeRequestedAgain(nowMs: number): DriveStop | null {
    if (!this.latched) return null
    this.#unconfirmed = true
    if (nowMs - this.#sentMs < MIN_RESEND_MS) return null
    this.#markSent(nowMs)
    return this.#stop
  }

  #markSent(nowMs: number): void {
    this.#sentMs = nowMs
    this.#unconfirmed = true
  }
}
