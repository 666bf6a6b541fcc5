/** How long to wait between attempts; see `Backoff`. */
export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds. Default 250. */
  readonly baseMs?: number
  /** Upper bound of every delay, in milliseconds. Default 10,000. */
  readonly maxMs?: number
  /** Uniform in [0, 1); injectable for tests. */
  readonly random?: () => number
}

/**
 * Exponential backoff with full jitter: attempt n waits somewhere between 0 and `baseMs * 2^n`, at most `maxMs`.
 * Full jitter spreads a fleet that lost its gateway in one instant over the whole interval.
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

  /** Delays handed out since the last reset. */
  get attempts(): number {
    return this.#attempts
  }

  /**
   * The delay before the next attempt, in milliseconds. The peer may have asked for `atLeastMs`; the jitter comes on
   * top, since it has asked others for the same.
   */
  nextDelayMs(atLeastMs = 0): number {
    const ceilingMs = Math.min(this.#maxMs, this.#baseMs * 2 ** this.#attempts)
    this.#attempts += 1
    return atLeastMs + this.#random() * ceilingMs
  }

  /** Starts over at `baseMs`; call it when an attempt has succeeded. */
  reset(): void {
    this.#attempts = 0
  }
}
