import { linkClockMs } from './link-clock.ts'

/** Latency that a link itself has measured. */
export interface LinkLatency {
  /** From the last ping to its pong, in milliseconds. */
  readonly roundTripMs: number
  /** The gateway's clock minus this side's clock, in milliseconds; accurate to half a round trip. */
  readonly clockOffsetMs: number
}

/** Number of recent round trips. The quickest one measures the clock offset best, with the least one-sided delay. */
const SAMPLES = 16
/** Number of pings without an answer that are remembered. */
const MAX_UNANSWERED = 16

/** Measures the latency to the gateway from pings and pongs. */
export class LatencyMeter {
  #lastPingT = 0
  #samples: LinkLatency[] = []
  /** The times of the pings without an answer, oldest first. */
  #unanswered: number[] = []

  /** Null until the first pong of this connection. */
  get latency(): LinkLatency | null {
    const last = this.#samples.at(-1)
    if (last === undefined) return null
    const quickest = this.#samples.reduce((a, b) => (b.roundTripMs < a.roundTripMs ? b : a))
    return { roundTripMs: last.roundTripMs, clockOffsetMs: quickest.clockOffsetMs }
  }

  /** How long the oldest ping without an answer has been waiting, in milliseconds; 0 without one. */
  get unansweredMs(): number {
    const [oldest] = this.#unanswered
    return oldest === undefined ? 0 : Math.max(0, linkClockMs() - oldest)
  }

  /** Returns the time to send in a ping. Each time is unique, so that it identifies the pong. */
  ping(): number {
    // Browsers reduce the resolution of their clocks to as much as a millisecond.
    this.#lastPingT = Math.max(linkClockMs(), this.#lastPingT + 0.01)
    this.#unanswered.push(this.#lastPingT)
    if (this.#unanswered.length > MAX_UNANSWERED) this.#unanswered.shift()
    return this.#lastPingT
  }

  /** Records the pong of a ping. */
  pong(t: number, serverT: number): void {
    const nowMs = linkClockMs()
    // Ignores a pong of a ping that this link has not sent.
    if (t > this.#lastPingT || t > nowMs) return
    // A connection answers in order, so the pings before this one were lost.
    this.#unanswered = this.#unanswered.filter((sent) => sent > t)
    const roundTripMs = nowMs - t
    this.#samples.push({ roundTripMs, clockOffsetMs: serverT - (t + nowMs) / 2 })
    if (this.#samples.length > SAMPLES) this.#samples.shift()
  }

  /** Discards all samples, because the next connection may lead to another gateway. */
  forget(): void {
    this.#samples = []
    this.#unanswered = []
  }
}
