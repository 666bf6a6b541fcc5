/** How long the smallest round trip counts, at least; at most twice as long. A changed route is then the new normal. */
const BASE_PERIOD_MS = 60_000

/**
 * Estimates from round trips how long frames wait in buffers on the way: the smallest of the last few round trips minus
 * the smallest of the last minutes, as LEDBAT does (RFC 6817). A single slow frame, such as a retransmission, does not
 * count.
 */
export class QueueingDelay {
  readonly #samples: number
  #recent: number[] = []
  #baseMs = Number.POSITIVE_INFINITY
  #earlierBaseMs = Number.POSITIVE_INFINITY
  #periodBeganMs = 0

  /** @param samples the number of round trips that must all be slow */
  constructor(samples: number) {
    this.#samples = samples
  }

  /** Milliseconds in buffers; 0 until there are enough round trips. */
  get delayMs(): number {
    if (this.#recent.length < this.#samples) return 0
    return Math.min(...this.#recent) - this.baseMs
  }

  /** The smallest round trip of the last minutes; infinite before the first one. */
  get baseMs(): number {
    return Math.min(this.#baseMs, this.#earlierBaseMs)
  }

  observe(roundTripMs: number, nowMs: number): void {
    if (nowMs - this.#periodBeganMs >= BASE_PERIOD_MS) {
      this.#earlierBaseMs = this.#baseMs
      this.#baseMs = Number.POSITIVE_INFINITY
      this.#periodBeganMs = nowMs
    }
    this.#baseMs = Math.min(this.#baseMs, roundTripMs)
    this.#recent.push(roundTripMs)
    if (this.#recent.length > this.#samples) this.#recent.shift()
  }

  /** Discards all round trips, because the next connection may take another route. */
  forget(): void {
    this.#recent = []
    this.#baseMs = this.#earlierBaseMs = Number.POSITIVE_INFINITY
  }
}
