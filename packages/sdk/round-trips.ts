/** More than ten seconds of control at 100 Hz. Whatever is older is not waited for. */
const MAX_OUTSTANDING = 1_024

/** When control frames were sent that nothing has been heard of yet. */
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

  /** Something was heard of a frame. @returns milliseconds since it was sent; null if nobody waits for it */
  complete(seq: number, nowMs: number): number | null {
    const sentMs = this.#sentMs.get(seq)
    this.#sentMs.delete(seq)
    return sentMs === undefined ? null : nowMs - sentMs
  }
}
