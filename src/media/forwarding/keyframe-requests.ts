/** Least time between two requests for a keyframe. A keyframe is ten times as large as another frame. */
const INTERVAL_MS = 500

/** Decides when to ask the sender of a stream for a keyframe: until one arrives, at most twice a second. */
export class KeyframeRequests {
  #isWanted = false
  #requestedMs = Number.NEGATIVE_INFINITY

  want(): void {
    this.#isWanted = true
  }

  /** Notes that a keyframe has begun. */
  arrived(): void {
    this.#isWanted = false
  }

  /** Returns whether to send a request now. */
  takeDue(nowMs: number): boolean {
    if (!this.#isWanted || nowMs - this.#requestedMs < INTERVAL_MS) return false
    this.#requestedMs = nowMs
    return true
  }
}
