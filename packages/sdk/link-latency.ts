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

/** Measures the latency to the gateway from pings and pongs. */
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

  /** Returns the time to send in a ping. Each time is unique, so that it identifies the pong. */
  ping(): number {
    // Browsers reduce the resolution of their clocks to as much as a millisecond.
    this.#lastPingT = Math.max(linkClockMs(), this.#lastPingT + 0.01)
    return this.#lastPingT
  }

  /** Records the pong of a ping. */
  pong(t: number, serverT: number): void {
    const nowMs = linkClockMs()
    // Ignores a pong of a ping that this link has not sent.
    if (t > this.#lastPingT || t > nowMs) return
    const roundTripMs = nowMs - t
    this.#samples.push({ roundTripMs, clockOffsetMs: serverT - (t + nowMs) / 2 })
    if (this.#samples.length > SAMPLES) this.#samples.shift()
  }

  /** Discards all samples, because the next connection may lead to another gateway. */
  forget(): void {
    this.#samples = []
  }
}
