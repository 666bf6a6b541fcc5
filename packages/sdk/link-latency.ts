import { linkClockMs } from './link-clock.ts'

/** What a link itself has measured. */
export interface LinkLatency {
  /** From the last ping to its pong, in milliseconds. */
  readonly roundTripMs: number
  /** What to add to this side's clock to get the gateway's, in milliseconds; right to half a round trip. */
  readonly clockOffsetMs: number
}

/** The quickest of so many round trips tells the clocks' offset best: less of it can be one-sided delay. */
const SAMPLES = 16

/** Times pings, and tells from their pongs how far away the gateway is. */
export class LatencyMeter {
  #lastPingT = 0
  #samples: LinkLatency[] = []

  /** Null until the first pong of this connection. */
  get latency(): LinkLatency | null {
    const last = this.#samples.at(-1)
    if (last === undefined) return null
    const quickest = this.#samples.reduce((a, b) => (b.roundTripMs < a.roundTripMs ? b : a))
    return { roundTripMs: last.roundTripMs, clockOffsetMs: quickest.clockOffsetMs }
  }

  /** The time to put into a ping. No two are the same, so that each pong can be told from the others. */
  ping(): number {
    // Browsers blur their clocks to as much as a millisecond.
    this.#lastPingT = Math.max(linkClockMs(), this.#lastPingT + 0.01)
    return this.#lastPingT
  }

  /** The answer to a ping has arrived. */
  pong(t: number, serverT: number): void {
    const nowMs = linkClockMs()
    // Nothing of ours comes from the future or carries a later time than our last.
    if (t > this.#lastPingT || t > nowMs) return
    const roundTripMs = nowMs - t
    this.#samples.push({ roundTripMs, clockOffsetMs: serverT - (t + nowMs) / 2 })
    if (this.#samples.length > SAMPLES) this.#samples.shift()
  }

  /** Another connection may lead to another gateway. */
  forget(): void {
    this.#samples = []
  }
}
