/** How much the smallest offset may grow in a millisecond: clocks drift by up to 0.2 ms a second. */
const CREEP = 0.0002

/**
 * Tells how much later than usual a frame arrives by its sender's clock. The two clocks need not agree, only run
 * at the same pace, so a queue that built up on the way shows however far away the sender is.
 */
export class Freshness {
  #smallestMs: number | null = null
  #atMs = 0
  #seq = -1

  /** Another sender, with another clock. */
  forget(): void {
    this.#smallestMs = null
    this.#seq = -1
  }

  /** Milliseconds by which the frame is late. `t` is its sender's clock, `nowMs` any monotonic clock of ours. */
  ageMs(seq: number, t: number, nowMs: number): number {
    // Numbers that begin again are those of a new link, perhaps with another clock.
    if (seq <= this.#seq) this.forget()
    this.#seq = seq
    const offset = nowMs - t
    const crept = this.#smallestMs === null ? offset : this.#smallestMs + (nowMs - this.#atMs) * CREEP
    this.#smallestMs = Math.min(offset, crept)
    this.#atMs = nowMs
    return offset - this.#smallestMs
  }
}
