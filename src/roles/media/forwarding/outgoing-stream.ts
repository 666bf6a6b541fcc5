import { rtp } from '@wheelhouse/protocol'
import type { IncomingStream } from './incoming-stream.ts'

const CNAME = 'wheelhouse'
/** Packets after which no packet from before the first one arrives, before sequence numbers wrap. */
const RECENT = 4_096

/**
 * One stream that a peer receives. It continues with the next sequence number and a later timestamp when its source changes,
 * so that the receiver's decoder survives a publisher that reconnects.
 */
export class OutgoingStream {
  readonly ssrc: number
  readonly #payloadType: number
  readonly #ticksPerMs: number
  #source: IncomingStream | undefined
  #sequenceOffset = 0
  #timestampOffset = 0
  #firstSequenceNumber = 0
  #newestSequenceNumber: number
  #newestTimestamp: number
  #sentMs = 0
  #sinceFirst = 0
  #packets = 0
  #bytes = 0

  constructor(options: {
    ssrc: number
    payloadType: number
    clockRateHz: number
    firstSequenceNumber: number
  }) {
    this.ssrc = options.ssrc
    this.#payloadType = options.payloadType
    this.#ticksPerMs = options.clockRateHz / 1_000
    this.#newestSequenceNumber = options.firstSequenceNumber & 0xffff
    this.#newestTimestamp = 0
  }

  /** Returns whether this stream has begun with a source. Video begins with a keyframe. */
  hasBegun(source: IncomingStream): boolean {
    return this.#source === source
  }

  /** Writes the header of this stream over a plain packet of a source. Returns false for a packet from before the first one. */
  rewrite(plain: Uint8Array, header: rtp.RtpHeader, source: IncomingStream, nowMs: number): boolean {
    if (this.#source !== source) this.#begin(source, header, nowMs)
    if (this.#isBeforeFirst(header.sequenceNumber)) return false
    const sequenceNumber = (header.sequenceNumber + this.#sequenceOffset) & 0xffff
    const timestamp = (header.timestamp + this.#timestampOffset) >>> 0
    if (rtp.sequenceDistance(this.#newestSequenceNumber, sequenceNumber) > 0) {
      this.#newestSequenceNumber = sequenceNumber
      this.#newestTimestamp = timestamp
    }
    this.#sentMs = nowMs
    this.#packets++
    this.#sinceFirst++
    this.#bytes += plain.length
    rtp.writeHeader(plain, { payloadType: this.#payloadType, sequenceNumber, timestamp, ssrc: this.ssrc })
    return true
  }

  #begin(source: IncomingStream, header: rtp.RtpHeader, nowMs: number): void {
    const elapsedTicks =
      this.#source === undefined ? 0 : Math.round((nowMs - this.#sentMs) * this.#ticksPerMs)
    this.#source = source
    this.#firstSequenceNumber = header.sequenceNumber
    this.#sinceFirst = 0
    this.#sequenceOffset = (this.#newestSequenceNumber + 1 - header.sequenceNumber) & 0xffff
    this.#timestampOffset = (this.#newestTimestamp + Math.max(1, elapsedTicks) - header.timestamp) | 0
  }

  /** Returns a packet that the receiver lost, with the header of this stream; undefined if it is not available. */
  lost(sequenceNumber: number): Uint8Array | undefined {
    const source = this.#source
    const original = (sequenceNumber - this.#sequenceOffset) & 0xffff
    if (!source || this.#isBeforeFirst(original)) return undefined
    const stored = source.history.get(original)
    if (!stored) return undefined
    const timestamp = (stored.timestamp + this.#timestampOffset) >>> 0
    rtp.writeHeader(stored.packet, {
      payloadType: this.#payloadType,
      sequenceNumber,
      timestamp,
      ssrc: this.ssrc,
    })
    return stored.packet
  }

  /** Returns whether a packet of the source is older than the keyframe with which this stream began. */
  #isBeforeFirst(sequenceNumber: number): boolean {
    return this.#sinceFirst < RECENT && rtp.sequenceDistance(this.#firstSequenceNumber, sequenceNumber) < 0
  }

  /**
   * Returns the regular report: the present time by this machine's clock, and the timestamp that a frame captured now would
   * have (RFC 3550, 6.4.1). A receiver so knows the age of each frame. Undefined while the capture times are unknown: without a
   * report a receiver does not know them either.
   */
  report(nowMs: number): Uint8Array | undefined {
    const source = this.#source
    const captureMs = source?.captureMs
    if (!source || captureMs === undefined || this.#packets === 0) return undefined
    const sinceCapture = Math.round((nowMs - captureMs) * this.#ticksPerMs)
    const report = rtp.senderReport({
      ssrc: this.ssrc,
      ntp: rtp.ntpOf(nowMs),
      rtpTimestamp: (source.timestamp + this.#timestampOffset + sinceCapture) >>> 0,
      packets: this.#packets,
      bytes: this.#bytes,
    })
    return rtp.concatPackets([report, rtp.sourceDescription(this.ssrc, CNAME)])
  }
}
