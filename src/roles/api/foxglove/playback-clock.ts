const NS_PER_MS = 1e6
const LOWEST_SPEED = 0.01
const HIGHEST_SPEED = 100
/** How late a message may be. A playback that reads slowly is delayed; it skips nothing. */
const MAX_LAG_MS = 100

/** Relates the time of a recording to the time of this process. */
export class PlaybackClock {
  readonly #monotonicMs: () => number
  #positionNs: bigint
  #atMs: number
  #speed = 1

  constructor(positionNs: bigint, monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
    this.#positionNs = positionNs
    this.#atMs = monotonicMs()
  }

  get speed(): number {
    return this.#speed
  }

  /** The time of the last message, or a later time up to the next one. */
  get positionNs(): bigint {
    return this.#positionNs
  }

  /** Sets the speed. Returns false for one that is no number, and keeps the current one. */
  setSpeed(speed: number): boolean {
    if (!Number.isFinite(speed) || speed <= 0) return false
    this.#speed = Math.min(HIGHEST_SPEED, Math.max(LOWEST_SPEED, speed))
    return true
  }

  /** Continues from a position, now. */
  startAt(positionNs: bigint): void {
    this.#positionNs = positionNs
    this.#atMs = this.#monotonicMs()
  }

  /** Advances up to a time, but not beyond it. Returns the milliseconds until then; 0 when it is reached. */
  advanceTo(timeNs: bigint): number {
    const nowMs = this.#monotonicMs()
    const elapsedNs = BigInt(Math.round((nowMs - this.#atMs) * this.#speed * NS_PER_MS))
    const clockNs = this.#positionNs + elapsedNs
    if (clockNs < timeNs) {
      this.#positionNs = clockNs
      this.#atMs = nowMs
      return Number(timeNs - clockNs) / this.#speed / NS_PER_MS
    }
    const lagMs = Number(clockNs - timeNs) / this.#speed / NS_PER_MS
    this.#atMs = nowMs - Math.min(MAX_LAG_MS, lagMs)
    if (timeNs > this.#positionNs) this.#positionNs = timeNs
    return 0
  }
}
