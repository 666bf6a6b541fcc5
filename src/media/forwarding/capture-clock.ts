import { rtp } from '@wheelhouse/protocol'

/** Time after which a better estimate of the sender's clock is replaced by a newer one, because clocks drift. */
const BEST_REPORT_MS = 60_000

/**
 * Converts RTP timestamps of a sender to times of this machine's clock. Sender reports give the sender's time of a
 * timestamp. The smallest difference between arrival and that time, less half of the round trip, is the difference of the clocks.
 */
export class CaptureClock {
  readonly #ticksPerMs: number
  /** When the frame with a timestamp was captured, by the sender's clock. */
  #report: { readonly rtpTimestamp: number; readonly senderMs: number } | undefined
  #isStamped = false
  #last: { readonly compactNtp: number; readonly atMs: number } | undefined
  #best: { readonly differenceMs: number; readonly atMs: number } | undefined
  /** The round trip to the sender in milliseconds, once it has echoed a reference time. */
  roundTripMs: number | undefined

  constructor(clockRateHz: number) {
    this.#ticksPerMs = clockRateHz / 1_000
  }

  /** Notes the capture time of a frame by the sender's clock (abs-capture-time). From then on, sender reports are used for the clock only. */
  stamped(ntp: bigint, rtpTimestamp: number): void {
    this.#isStamped = true
    this.#report = { rtpTimestamp, senderMs: rtp.unixMsOf(ntp) }
  }

  /** Notes a sender report that arrived at `nowMs` (Unix time). */
  reported({ ntp, rtpTimestamp }: rtp.SenderReport, nowMs: number): void {
    const senderMs = rtp.unixMsOf(ntp)
    if (!this.#isStamped) this.#report = { rtpTimestamp, senderMs }
    this.#last = { compactNtp: rtp.compactNtp(ntp), atMs: nowMs }
    const differenceMs = nowMs - senderMs
    const best = this.#best
    if (!best || differenceMs < best.differenceMs || nowMs - best.atMs > BEST_REPORT_MS)
      this.#best = { differenceMs, atMs: nowMs }
  }

  /** Notes the echo of a reference time that this side sent. */
  echoed({ compactNtp: sent, delay }: rtp.ReferenceTimeEcho, nowMs: number): void {
    const ticks = (rtp.compactNtp(rtp.ntpOf(nowMs)) - sent - delay) | 0
    const roundTripMs = (ticks * 1_000) / 65_536
    if (roundTripMs >= 0 && roundTripMs < 10_000) this.roundTripMs = roundTripMs
  }

  /** Returns when a timestamp was captured by this machine's clock; undefined before the first sender report. */
  captureMs(rtpTimestamp: number): number | undefined {
    const report = this.#report
    const best = this.#best
    if (!report || !best) return undefined
    const sinceReportMs = rtp.timestampDistance(report.rtpTimestamp, rtpTimestamp) / this.#ticksPerMs
    return report.senderMs + sinceReportMs + best.differenceMs - (this.roundTripMs ?? 0) / 2
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
