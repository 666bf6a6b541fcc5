/**
 * A token bucket: `burst` tokens at once, refilled evenly within `refillMs`. The caller passes the time of one monotonic
 * clock, and gets the answer synchronously.
 */
export class TokenBucket {
  readonly #burst: number
  readonly #refillMs: number
  #tokens: number
  #takenAtMs: number

  constructor({ burst, refillMs }: { burst: number; refillMs: number }, nowMs: number) {
    this.#burst = burst
    this.#refillMs = refillMs
    this.#tokens = burst
    this.#takenAtMs = nowMs
  }

  /** The time of the last token, or of the creation. */
  get takenAtMs(): number {
    return this.#takenAtMs
  }

  /** Takes `count` tokens, at most `burst`. Returns 0, or takes none and returns the milliseconds until there are enough. */
  take(nowMs: number, count = 1): number {
    const refilled = ((nowMs - this.#takenAtMs) * this.#burst) / this.#refillMs
    const tokens = Math.min(this.#burst, this.#tokens + refilled)
    if (tokens < count) return Math.ceil(((count - tokens) * this.#refillMs) / this.#burst)
    this.#tokens = tokens - count
    this.#takenAtMs = nowMs
    return 0
  }
}
