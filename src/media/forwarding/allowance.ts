/** An amount that may be spent at a steady rate, with bursts. */
export class Allowance {
  readonly #perSecond: number
  readonly #most: number
  #left: number
  #atMs: number | undefined

  /** `most` may be spent at once. */
  constructor({ perSecond, most }: { perSecond: number; most: number }) {
    this.#perSecond = perSecond
    this.#most = most
    this.#left = most
  }

  /** Spends an amount. Returns false, and spends nothing, if it is not left. */
  spend(amount: number, nowMs: number): boolean {
    const seconds = this.#atMs === undefined ? 0 : Math.max(0, nowMs - this.#atMs) / 1_000
    this.#atMs = nowMs
    this.#left = Math.min(this.#most, this.#left + seconds * this.#perSecond)
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }
}
