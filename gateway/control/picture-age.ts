/** A report older than this says nothing about the present delay of the picture: its operator may not drive at present. */
const RECENT_MS = 1_000

/**
 * The age of the picture by which an operator drives, as the frames of its connection report it. Times are in the relay's
 * clock.
 */
export class PictureAge {
  #reportedMs: number | null = null
  #seenMs = 0
  #tooOld = false

  /** Whether the picture exceeded the limit and has not been well below it since. */
  get tooOld(): boolean {
    return this.#tooOld
  }

  /** Notes a report; null if the operator sees no picture, or one of unknown age. */
  report(ageMs: number | null, nowMs: number): void {
    this.#reportedMs = ageMs
    this.#seenMs = nowMs
    if (ageMs === null) this.#tooOld = false
  }

  /** Returns the age of the picture, which grows until the next report; undefined while it is unknown. */
  at(nowMs: number): number | undefined {
    return this.#reportedMs === null ? undefined : this.#reportedMs + nowMs - this.#seenMs
  }

  /** Returns the age of the last report if it is recent, otherwise 0. */
  recentMs(nowMs: number): number {
    return this.#reportedMs === null || nowMs - this.#seenMs > RECENT_MS ? 0 : this.#reportedMs
  }

  /** Requires the picture to be well below the limit before the next command passes. */
  exceedLimit(): void {
    this.#tooOld = true
  }

  accept(): void {
    this.#tooOld = false
  }

  /** Forgets the operator's connection. */
  reset(): void {
    this.#reportedMs = null
    this.#tooOld = false
  }
}
