import { ageOf, isFastest } from '../control/gate.ts'

/** A sample that seems older is one of a clock that was set. */
const MAX_AGE_MS = 5_000

/** Compares the clock of a robot with the gateway's, by the times of its samples. Times are milliseconds of clocks that need not agree. */
export class SampleClock {
  #offsetMs = Number.POSITIVE_INFINITY
  #offsetSeenMs = 0
  #lastT = Number.NEGATIVE_INFINITY

  /**
   * Returns how much longer a sample took than the fastest one; NaN if its time is missing or says nothing: a time that does not rise
   * belongs to no clock, or to one that was set.
   */
  ageMs(t: unknown, nowMs: number): number {
    if (typeof t !== 'number' || !Number.isFinite(t)) return Number.NaN
    const isLater = t > this.#lastT
    this.#lastT = t
    const clock = { offsetMs: this.#offsetMs, offsetSeenMs: this.#offsetSeenMs }
    const ageMs = ageOf(clock, t, nowMs)
    const isUsable = isLater && ageMs <= MAX_AGE_MS
    if (isUsable && !isFastest(clock, t, nowMs)) return ageMs
    this.#offsetMs = nowMs - t
    this.#offsetSeenMs = nowMs
    return isUsable ? 0 : Number.NaN
  }
}
