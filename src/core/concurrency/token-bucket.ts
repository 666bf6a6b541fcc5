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

  /** Takes a token. Returns 0, or the milliseconds until there is a token. */
  take(nowMs: number): number {
    const refilled = ((nowMs - this.#takenAtMs) * this.#burst) / this.#refillMs
    const tokens = Math.min(this.#burst, this.#tokens + refilled)
    if (tokens < 1) return Math.ceil(((1 - tokens) * this.#refillMs) / this.#burst)
    this.#tokens = tokens - 1
    this.#takenAtMs = nowMs
    return 0
  }
}
