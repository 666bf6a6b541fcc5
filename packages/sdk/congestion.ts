import { SendRate } from './send-rate.ts'

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

/** The sign by which a link has noticed congestion. */
export type CongestionCause =
  /** Frames wait in the send buffer of this side. */
  | 'unsent_bytes'
  /** Round trips take longer than before. */
  | 'latency'
  /** A ping has no answer yet. */
  | 'unanswered'

/** The load of an operator's link. */
export interface Congestion {
  /** Why the link is congested; null while it is not. */
  readonly cause: CongestionCause | null
  /** The highest number of commands that the link sends in a second; null for no limit. It outlasts the congestion. */
  readonly maxRateHz: number | null
}

export const NO_CONGESTION: Congestion = { cause: null, maxRateHz: null }

/** The load of a connection at present. */
export interface LinkLoad {
  readonly unsentBytes: number
  /** How long the oldest ping without an answer has been waiting; 0 without one. */
  readonly unansweredPingMs: number
}

/** Longest time in buffers on the way that is not congestion: the target of LEDBAT (RFC 6817). */
const MAX_QUEUEING_MS = 100
/** Longest time without an answer beyond the usual round trip. Longer than a fast retransmission takes. */
const MAX_UNANSWERED_MS = 250
/** A sign that has gone by then was a pause of this process, which has read the answers since, or only a burst. */
const MIN_SIGN_MS = 10
/** Acknowledgements of commands are frequent, pongs are not. */
const ACK_SAMPLES = 4
const PONG_SAMPLES = 2

interface CongestionMonitorOptions {
  readonly minRateHz: number
  /** More unsent bytes are congestion. */
  readonly maxUnsentBytes: number
  readonly onChange: (congestion: Congestion) => void
}

/** Detects congestion of a link and limits its rate of commands. Times are those of one monotonic clock. */
export class CongestionMonitor {
  readonly #options: CongestionMonitorOptions
  readonly #rate: SendRate
  readonly #acks = new QueueingDelay(ACK_SAMPLES)
  readonly #pongs = new QueueingDelay(PONG_SAMPLES)
  /** Since when every update has found a sign of congestion; null without one. */
  #signSinceMs: number | null = null
  #lastCause: CongestionCause | null = null
  #congestion = NO_CONGESTION

  /** @throws RangeError if `minRateHz` is not above 0 */
  constructor(options: CongestionMonitorOptions) {
    this.#options = options
    this.#rate = new SendRate(options.minRateHz)
  }

  get congestion(): Congestion {
    return this.#congestion
  }

  /** The shortest time between two commands; 0 for no limit. */
  get gapMs(): number {
    return this.#rate.gapMs
  }

  /** Notes a command of the caller, whether or not it is sent. */
  command(nowMs: number): void {
    this.#rate.command(nowMs)
  }

  /** Notes the time from sending a command to its acknowledgement. */
  acknowledged(roundTripMs: number, nowMs: number): void {
    this.#acks.observe(roundTripMs, nowMs)
  }

  /** Notes the time from a ping to its pong. */
  pong(roundTripMs: number, nowMs: number): void {
    this.#pongs.observe(roundTripMs, nowMs)
  }

  /** Adapts the rate to the load. Call it with every command and every measurement. */
  update(load: LinkLoad, nowMs: number): void {
    const cause = this.#confirmed(this.#causeOf(load), nowMs)
    this.#rate.update(cause !== null, nowMs)
    this.#lastCause = cause ?? this.#lastCause
    const { maxHz } = this.#rate
    this.#change({
      cause: this.#rate.isCongested(nowMs) ? this.#lastCause : null,
      maxRateHz: maxHz === null ? null : Math.round(maxHz),
    })
  }

  /** Discards all measurements and the limit, because the next connection may take another route. */
  reset(): void {
    this.#acks.forget()
    this.#pongs.forget()
    this.#rate.reset()
    this.#signSinceMs = null
    this.#change(NO_CONGESTION)
  }

  #confirmed(cause: CongestionCause | null, nowMs: number): CongestionCause | null {
    if (cause === null) this.#signSinceMs = null
    else this.#signSinceMs ??= nowMs
    return this.#signSinceMs !== null && nowMs - this.#signSinceMs >= MIN_SIGN_MS ? cause : null
  }

  #causeOf({ unsentBytes, unansweredPingMs }: LinkLoad): CongestionCause | null {
    if (unsentBytes > this.#options.maxUnsentBytes) return 'unsent_bytes'
    const usualMs = Number.isFinite(this.#pongs.baseMs) ? this.#pongs.baseMs : 0
    if (unansweredPingMs > usualMs + MAX_UNANSWERED_MS) return 'unanswered'
    return Math.max(this.#acks.delayMs, this.#pongs.delayMs) > MAX_QUEUEING_MS ? 'latency' : null
  }

  #change(next: Congestion): void {
    const { cause, maxRateHz } = this.#congestion
    if (next.cause === cause && next.maxRateHz === maxRateHz) return
    this.#congestion = next
    this.#options.onChange(next)
  }
}
