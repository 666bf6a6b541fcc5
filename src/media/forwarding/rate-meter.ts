const SLOT_MS = 100
const SLOTS = 10

/** Measures a rate over the last second. */
export class RateMeter {
  readonly #sums = new Array<number>(SLOTS).fill(0)
  #slot = 0

  add(nowMs: number, amount: number): void {
    this.#advance(nowMs)
    this.#sums[this.#slot % SLOTS] = (this.#sums[this.#slot % SLOTS] ?? 0) + amount
  }

  /** Returns the sum of the last second. */
  perSecond(nowMs: number): number {
    this.#advance(nowMs)
    return this.#sums.reduce((sum, part) => sum + part, 0)
  }

  /** Empties the slots since the last call. */
  #advance(nowMs: number): void {
    const slot = Math.max(this.#slot, Math.floor(nowMs / SLOT_MS))
    const first = Math.max(this.#slot + 1, slot - SLOTS + 1)
    for (let old = first; old <= slot; old++) this.#sums[old % SLOTS] = 0
    this.#slot = slot
  }
}
