/** Interval between probes while frames pass. */
const PROBE_INTERVAL_MS = 50
/**
 * A channel whose last answer is older is not trusted: frames then use the WebSocket too. Well below the default deadman of 250 ms, so
 * that a robot keeps driving when the network begins to drop the channel's packets.
 */
const TRUST_MS = 150
/** Unanswered probes to remember: those of a round trip of three seconds. */
const MAX_UNANSWERED = 60

/**
 * Decides whether a data channel delivers at present. A channel is unreliable and cannot notice by itself that its packets are lost,
 * so each side sends probes while frames pass, and trusts the channel as long as answers arrive. Times are in milliseconds of any
 * monotonic clock.
 */
export class ChannelHealth {
  #number = 0
  #lastProbeMs = Number.NEGATIVE_INFINITY
  #lastAnswerMs = Number.NEGATIVE_INFINITY
  readonly #sentMs = new Map<number, number>()

  /** Returns the number of the probe to send now, next to a frame; undefined if none is due. */
  nextProbe(nowMs: number): number | undefined {
    if (nowMs - this.#lastProbeMs < PROBE_INTERVAL_MS) return undefined
    this.#lastProbeMs = nowMs
    this.#number++
    this.#sentMs.set(this.#number, nowMs)
    this.#sentMs.delete(this.#number - MAX_UNANSWERED)
    return this.#number
  }

  /** Notes an answer. Returns the round trip; undefined for a number that is unknown or answered already. */
  answered(number: number, nowMs: number): number | undefined {
    const sentMs = this.#sentMs.get(number)
    if (sentMs === undefined) return undefined
    this.#sentMs.delete(number)
    this.#lastAnswerMs = nowMs
    return nowMs - sentMs
  }

  /** Returns whether no probe was sent lately, so that nothing is known about the channel at present. */
  isIdle(nowMs: number): boolean {
    return nowMs - this.#lastProbeMs > TRUST_MS
  }

  /** Returns whether the channel delivered lately, in both directions. */
  isTrusted(nowMs: number): boolean {
    return nowMs - this.#lastAnswerMs < TRUST_MS
  }
}
