import { UNWATCHED_BITS_PER_SECOND } from '@wheelhouse/protocol'

/** Bitrates in bits per second. */
const START = 1_500_000
const MIN = 100_000
/** Growth per second while the path has no queue. */
const GROWTH = 1.08
/** Share of the received bitrate that a sender keeps when a queue builds up. */
const BACK_OFF = 0.8
/** Delay of a frame behind the fastest one of the last seconds that counts as a queue. */
const QUEUE_MS = 150
/** Loss above which the path is congested rather than noisy. */
const CONGESTION_LOSS = 0.1
/** The fastest frame is forgotten after one to two of these periods, because clocks drift and paths change. */
const WINDOW_MS = 10_000
const SMOOTHING = 0.2

/** The needs of a camera's viewers. */
export interface Demand {
  readonly isWatched: boolean
  /** Bits per second that the operator's path allows; undefined if it is not the limit. */
  readonly viewerLimit: number | undefined
}

/**
 * Decides the bitrate of a publisher. It grows until its packets queue up on the way or are lost, or until the operator's path
 * is the limit.
 */
export class BitrateControl {
  readonly #maxBitsPerSecond: number
  #bitsPerSecond: number
  #fastestMs = Number.POSITIVE_INFINITY
  #fastestOfWindowMs = Number.POSITIVE_INFINITY
  #windowEndMs = 0
  #queueMs = 0
  #updatedMs: number | undefined

  constructor(maxBitsPerSecond: number) {
    this.#maxBitsPerSecond = maxBitsPerSecond
    this.#bitsPerSecond = Math.min(START, maxBitsPerSecond)
  }

  /** Notes the first packet of a frame. `mediaMs` is its timestamp, from any beginning. */
  frame(arrivalMs: number, mediaMs: number): void {
    const transitMs = arrivalMs - mediaMs
    if (arrivalMs > this.#windowEndMs) {
      this.#fastestMs = this.#fastestOfWindowMs
      this.#fastestOfWindowMs = transitMs
      this.#windowEndMs = arrivalMs + WINDOW_MS
    }
    this.#fastestOfWindowMs = Math.min(this.#fastestOfWindowMs, transitMs)
    this.#fastestMs = Math.min(this.#fastestMs, this.#fastestOfWindowMs)
    this.#queueMs += SMOOTHING * (transitMs - this.#fastestMs - this.#queueMs)
  }

  /**
   * Returns the bitrate from now on.
   * @param received bits per second that arrived in the last second.
   * @param demand who watches. While no viewer does, the bitrate for the next viewer remains as it was.
   */
  update(nowMs: number, received: number, fractionLost: number, { isWatched, viewerLimit }: Demand): number {
    if (!isWatched) {
      this.#updatedMs = undefined
      return Math.min(UNWATCHED_BITS_PER_SECOND, this.#maxBitsPerSecond)
    }
    const seconds = this.#updatedMs === undefined ? 0 : (nowMs - this.#updatedMs) / 1_000
    this.#updatedMs = nowMs
    if (this.#queueMs > QUEUE_MS && received > 0)
      this.#bitsPerSecond = Math.min(this.#bitsPerSecond, BACK_OFF * received)
    else if (fractionLost > CONGESTION_LOSS) this.#bitsPerSecond *= 1 - fractionLost / 2
    else this.#bitsPerSecond *= GROWTH ** seconds
    const limit = Math.min(this.#maxBitsPerSecond, viewerLimit ?? Number.POSITIVE_INFINITY)
    this.#bitsPerSecond = Math.max(MIN, Math.min(this.#bitsPerSecond, limit))
    const allowed = Math.round(this.#bitsPerSecond)
    // On the wire (REMB), numbers of this size are even.
    const isUnwatched = Math.abs(allowed - UNWATCHED_BITS_PER_SECOND) < 2
    return isUnwatched ? UNWATCHED_BITS_PER_SECOND + 2 : allowed
  }
}
