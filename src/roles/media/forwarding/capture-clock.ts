import { rtp } from '@wheelhouse/protocol'
import { Timeline } from './timeline.ts'

/** A round trip cannot be longer. */
const MAX_ROUND_TRIP_MS = 60_000

/**
 * Converts RTP timestamps of a sender to times of this machine's clock. Sender reports say which timestamp is now. A sender that
 * stamps its frames with their capture times (abs-capture-time) need not have timestamps that belong to its reports.
 */
export class CaptureClock {
  readonly #ticksPerMs: number
  /** The time of RTP timestamps. */
  readonly #media = new Timeline()
  /** The sender's clock. */
  readonly #sender = new Timeline()
  #stamp: { readonly rtpTimestamp: number; readonly senderMs: number } | undefined
  #newest: { readonly rtpTimestamp: number; readonly mediaMs: number } | undefined
  #last: { readonly compactNtp: number; readonly atMs: number } | undefined
  /** The newest round trip to the sender in milliseconds, once it has echoed a reference time. */
  roundTripMs: number | undefined

  constructor(clockRateHz: number) {
    this.#ticksPerMs = clockRateHz / 1_000
  }

  get #timeline(): Timeline {
    return this.#stamp ? this.#sender : this.#media
  }

  /** Half of the shortest round trip: no frame takes less time from its capture to its arrival. 0 if it is unknown. */
  get leastDelayMs(): number {
    return (this.#timeline.leastRoundTripMs ?? 0) / 2
  }

  /** Notes the first packet of a frame. */
  arrived(rtpTimestamp: number, nowMs: number): void {
    const mediaMs = this.#mediaMs(rtpTimestamp)
    this.#newest = { rtpTimestamp, mediaMs }
    this.#media.frame(mediaMs, nowMs)
  }

  /** Notes the capture time of a frame by the sender's clock (abs-capture-time). */
  stamped(ntp: bigint, rtpTimestamp: number, nowMs: number): void {
    const senderMs = rtp.unixMsOf(ntp)
    this.#stamp = { rtpTimestamp, senderMs }
    this.#sender.frame(senderMs, nowMs)
  }

  /** Notes a sender report that arrived at `nowMs` (Unix time). */
  reported({ ntp, rtpTimestamp }: rtp.SenderReport, nowMs: number): void {
    const senderMs = rtp.unixMsOf(ntp)
    this.#last = { compactNtp: rtp.compactNtp(ntp), atMs: nowMs }
    const mediaMs = this.#mediaMs(rtpTimestamp)
    this.#newest ??= { rtpTimestamp, mediaMs }
    this.#media.reported({ timeMs: mediaMs, senderMs, nowMs })
    this.#sender.reported({ timeMs: senderMs, senderMs, nowMs })
  }

  /** Notes the echo of a reference time that this side sent. */
  echoed({ compactNtp: sent, delay }: rtp.ReferenceTimeEcho, nowMs: number): void {
    const ticks = (rtp.compactNtp(rtp.ntpOf(nowMs)) - sent - delay) | 0
    const roundTripMs = (ticks * 1_000) / 65_536
    if (roundTripMs < 0 || roundTripMs >= MAX_ROUND_TRIP_MS) return
    this.roundTripMs = roundTripMs
    this.#media.roundTrip(roundTripMs, nowMs)
    this.#sender.roundTrip(roundTripMs, nowMs)
  }

  /** Returns when a timestamp was captured by this machine's clock; undefined while that is unknown. */
  captureMs(rtpTimestamp: number): number | undefined {
    const stamp = this.#stamp
    if (!stamp) return this.#media.unixMs(this.#mediaMs(rtpTimestamp))
    const sinceStampMs = rtp.timestampDistance(stamp.rtpTimestamp, rtpTimestamp) / this.#ticksPerMs
    return this.#sender.unixMs(stamp.senderMs + sinceStampMs)
  }

  /** Returns a timestamp in milliseconds that do not wrap. */
  #mediaMs(rtpTimestamp: number): number {
    const newest = this.#newest
    if (!newest) return rtpTimestamp / this.#ticksPerMs
    return newest.mediaMs + rtp.timestampDistance(newest.rtpTimestamp, rtpTimestamp) / this.#ticksPerMs
  }

  /** Returns what a receiver report says about the last sender report. */
  lastReport(nowMs: number): { lastSenderReport: number; delaySinceSenderReport: number } {
    const last = this.#last
    if (!last) return { lastSenderReport: 0, delaySinceSenderReport: 0 }
    return {
      lastSenderReport: last.compactNtp,
      delaySinceSenderReport: rtp.compactDuration(nowMs - last.atMs),
    }
  }
}
