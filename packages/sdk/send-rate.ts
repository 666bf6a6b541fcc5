/**
 * The lowest rate to which a link limits its commands, unless its user sets another one. The gateway halts a robot after
 * 250 ms of silence by default, so five commands fit in that time.
 */
export const DEFAULT_MIN_RATE_HZ = 20
const LOWER_FACTOR = 0.7
/** A lowered rate needs this time to take effect before it is lowered again. */
const LOWER_EVERY_MS = 500
/** The congestion is over after this time without a sign of it. */
const CLEAR_AFTER_MS = 2_000
const RAISE_FACTOR = 1.1
const RAISE_EVERY_MS = 1_000
/** A limit this far above the rate of the caller has no effect. */
const REMOVE_ABOVE = 1.2
/** Weight of the newest gap between commands in the mean. */
const GAP_WEIGHT = 0.1
const LONGEST_GAP_MS = 1_000

/**
 * Limits the rate of commands while the link is congested. Lowers the rate by steps of 30 %, at most twice a second, and
 * raises it by 10 % a second afterwards, until it no longer limits the caller.
 */
export class SendRate {
  readonly #minHz: number
  #maxHz: number | null = null
  #lastCommandMs = Number.NEGATIVE_INFINITY
  #meanGapMs = LONGEST_GAP_MS
  #loweredMs = Number.NEGATIVE_INFINITY
  #raisedMs = Number.NEGATIVE_INFINITY
  #congestedMs = Number.NEGATIVE_INFINITY

  /** @throws RangeError if `minHz` is not above 0 */
  constructor(minHz: number) {
    if (!(minHz > 0)) throw new RangeError('minRateHz must be above 0')
    this.#minHz = minHz
  }

  /** The highest rate of commands at present; null for no limit. */
  get maxHz(): number | null {
    return this.#maxHz
  }

  /** The shortest time between two commands; 0 for no limit. */
  get gapMs(): number {
    return this.#maxHz === null ? 0 : 1_000 / this.#maxHz
  }

  /** Returns whether there was a sign of congestion a moment ago. */
  isCongested(nowMs: number): boolean {
    return nowMs - this.#congestedMs < CLEAR_AFTER_MS
  }

  /** Notes a command of the caller, whether or not it is sent. */
  command(nowMs: number): void {
    const gapMs = Math.min(nowMs - this.#lastCommandMs, LONGEST_GAP_MS)
    this.#meanGapMs += (gapMs - this.#meanGapMs) * GAP_WEIGHT
    this.#lastCommandMs = nowMs
  }

  /** Adapts the rate. Call it often: with every command and every measurement. */
  update(congested: boolean, nowMs: number): void {
    if (congested) {
      this.#congestedMs = nowMs
      this.#lower(nowMs)
    } else if (this.#maxHz !== null && !this.isCongested(nowMs)) this.#raise(this.#maxHz, nowMs)
  }

  reset(): void {
    this.#maxHz = null
    this.#congestedMs = this.#loweredMs = this.#raisedMs = Number.NEGATIVE_INFINITY
  }

  get #callerHz(): number {
    return 1_000 / Math.max(this.#meanGapMs, 1)
  }

  #lower(nowMs: number): void {
    if (nowMs - this.#loweredMs < LOWER_EVERY_MS) return
    this.#loweredMs = nowMs
    const currentHz = Math.min(this.#maxHz ?? Number.POSITIVE_INFINITY, this.#callerHz)
    this.#maxHz = Math.max(this.#minHz, currentHz * LOWER_FACTOR)
  }

  #raise(maxHz: number, nowMs: number): void {
    if (nowMs - this.#raisedMs < RAISE_EVERY_MS) return
    this.#raisedMs = nowMs
    const raisedHz = maxHz * RAISE_FACTOR
    this.#maxHz = raisedHz >= this.#callerHz * REMOVE_ABOVE ? null : raisedHz
  }
}
