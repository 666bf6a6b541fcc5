/** Delays between attempts; see `Backoff`. */
export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds. Default 250. */
  readonly baseMs?: number
  /** Upper bound of every delay, in milliseconds. Default 10,000. */
  readonly maxMs?: number
  /** Returns a uniform number in [0, 1); injectable for tests. */
  readonly random?: () => number
}

/**
 * Computes exponential backoff with full jitter: attempt n waits between 0 and `baseMs * 2^n`, at most `maxMs`.
 * Full jitter spreads the reconnects of a fleet that lost its gateway over the whole interval.
 */
export class Backoff {
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #random: () => number
  #attempts = 0

  constructor(options: BackoffOptions = {}) {
    this.#baseMs = options.baseMs ?? 250
    this.#maxMs = options.maxMs ?? 10_000
    this.#random = options.random ?? Math.random
  }

  /** Number of delays since the last reset. */
  get attempts(): number {
    return this.#attempts
  }

  /**
   * Returns the delay before the next attempt, in milliseconds. The jitter is added to the `atLeastMs` that the peer
   * asks for, because the peer asks other clients for the same delay.
   * @param maxMs an upper bound of this delay, in addition to that of the options
   */
  nextDelayMs(atLeastMs = 0, maxMs = this.#maxMs): number {
    const ceilingMs = Math.min(this.#maxMs, maxMs, this.#baseMs * 2 ** this.#attempts)
    this.#attempts += 1
    return atLeastMs + this.#random() * ceilingMs
  }

  /** Resets the delay to `baseMs`; call it after a successful attempt. */
  reset(): void {
    this.#attempts = 0
  }
}
