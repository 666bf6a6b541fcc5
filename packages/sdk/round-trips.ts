/** More than ten seconds of control at 100 Hz. Older frames are forgotten. */
const MAX_OUTSTANDING = 1_024

/** Records when the control frames without an answer were sent. */
export class RoundTrips {
  readonly #sentMs = new Map<number, number>()

  sent(seq: number, nowMs: number): void {
    this.#sentMs.set(seq, nowMs)
    if (this.#sentMs.size <= MAX_OUTSTANDING) return
    for (const oldest of this.#sentMs.keys()) {
      this.#sentMs.delete(oldest)
      break
    }
  }

  /** Handles the answer to a frame. @returns milliseconds since it was sent; null for an unknown or forgotten frame */
  complete(seq: number, nowMs: number): number | null {
    const sentMs = this.#sentMs.get(seq)
    this.#sentMs.delete(seq)
    return sentMs === undefined ? null : nowMs - sentMs
  }
}
