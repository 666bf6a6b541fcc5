import { rtp } from '@wheelhouse/protocol'
import { BitrateControl, type Demand } from './bitrate-control.ts'
import { CaptureClock } from './capture-clock.ts'
import { LostPackets } from './lost-packets.ts'

/** Counts packets of a stream for the reports of its receiver (RFC 3550, section 6.4.1 and appendix A). */
export class ReceptionStatistics {
  #cycles = 0
  #first: number | undefined
  #newest = 0
  #received = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #transit: number | undefined
  /** Interarrival jitter in ticks of the codec's clock. */
  jitter = 0

  /** Counts a packet. `arrivalTicks` and `timestamp` are in ticks of the codec's clock. */
  received(sequenceNumber: number, arrivalTicks: number, timestamp: number): void {
    this.#received++
    if (this.#first === undefined) {
      this.#first = sequenceNumber
      this.#newest = sequenceNumber
    } else if (rtp.sequenceDistance(this.#newest, sequenceNumber) > 0) {
      if (sequenceNumber < this.#newest) this.#cycles += 0x10000
      this.#newest = sequenceNumber
    }
    const transit = (arrivalTicks - timestamp) | 0
    if (this.#transit !== undefined)
      this.jitter += (Math.abs((transit - this.#transit) | 0) - this.jitter) / 16
    this.#transit = transit
  }

  /** The newest sequence number with the count of its wraps. */
  get highestSequenceNumber(): number {
    return this.#cycles + this.#newest
  }

  /** Returns the loss since the last call, 0 to 1, and since the beginning. */
  takeLoss(): { fractionLost: number; packetsLost: number } {
    const expected = this.#first === undefined ? 0 : this.highestSequenceNumber - this.#first + 1
    const expectedNow = expected - this.#expectedBefore
    const receivedNow = this.#received - this.#receivedBefore
    this.#expectedBefore = expected
    this.#receivedBefore = this.#received
    const fractionLost = expectedNow <= 0 ? 0 : Math.max(0, expectedNow - receivedNow) / expectedNow
    return { fractionLost, packetsLost: expected - this.#received }
  }
}

const SLOT_MS = 100
const SLOTS = 10

/** Measures a rate over the last second. */
export class RateMeter {
  readonly #sums = new Array<number>(SLOTS).fill(0)
  #slot = 0

  add(nowMs: number, amount: number): void {
    this.#advance(nowMs)
    this.#sums[this.#slot % SLOTS] = (this.#sums[this.#slot % SLOTS] ?? 0) + amount
  }

  /** Returns the sum of the last second. */
  perSecond(nowMs: number): number {
    this.#advance(nowMs)
    return this.#sums.reduce((sum, part) => sum + part, 0)
  }

  /** Empties the slots since the last call. */
  #advance(nowMs: number): void {
    const slot = Math.max(this.#slot, Math.floor(nowMs / SLOT_MS))
    const first = Math.max(this.#slot + 1, slot - SLOTS + 1)
    for (let old = first; old <= slot; old++) this.#sums[old % SLOTS] = 0
    this.#slot = slot
  }
}

/** Packets that are remembered: about a second of video at 6 Mbit/s. A power of two. */
const SIZE = 1_024

interface StoredPacket {
  readonly sequenceNumber: number
  readonly timestamp: number
  /** The packet without extensions. Its header is the one of the viewer that it was last sent to. */
  readonly packet: Uint8Array
}

/** The newest packets of a stream, to be sent again to viewers that lost them. All viewers share it. */
class PacketHistory {
  readonly #packets = new Array<StoredPacket | undefined>(SIZE)

  add({ sequenceNumber, timestamp }: rtp.RtpHeader, packet: Uint8Array): void {
    this.#packets[sequenceNumber % SIZE] = { sequenceNumber, timestamp, packet }
  }

  /** Returns a packet by its original sequence number; undefined if it was lost or is too old. */
  get(sequenceNumber: number): StoredPacket | undefined {
    const stored = this.#packets[sequenceNumber % SIZE]
    return stored?.sequenceNumber === sequenceNumber ? stored : undefined
  }
}

/** Least time between two requests for a keyframe. A keyframe is ten times as large as another frame. */
const INTERVAL_MS = 500

/** Decides when to ask the sender of a stream for a keyframe: until one arrives, at most twice a second. */
class KeyframeRequests {
  #isWanted = false
  #requestedMs = Number.NEGATIVE_INFINITY

  want(): void {
    this.#isWanted = true
  }

  /** Notes that a keyframe has begun. */
  arrived(): void {
    this.#isWanted = false
  }

  /** Returns whether to send a request now. */
  takeDue(nowMs: number): boolean {
    if (!this.#isWanted || nowMs - this.#requestedMs < INTERVAL_MS) return false
    this.#requestedMs = nowMs
    return true
  }
}

const CNAME = 'wheelhouse'
/** A frame cannot be older when it arrives: the timestamps of its sender are wrong. */
const MAX_LATENCY_MS = 60_000
/** A frame that seems to be captured later than this after its arrival has a wrong timestamp. */
const MAX_CLOCK_ERROR_MS = 100
/** Packets that are this much older than the newest one are of a sender that has restarted its count. */
const RECENT = 4_096

/** One stream (SSRC) that a peer sends: its newest packets, its statistics and the reports to its sender. */
export class IncomingStream {
  readonly ssrc: number
  /** The source identifier of this receiver in its reports. */
  readonly reporterSsrc: number
  readonly clock: CaptureClock
  readonly history = new PacketHistory()
  readonly rate = new RateMeter()
  /** Frames per second of video: packets with the marker. */
  readonly frameRate = new RateMeter()
  readonly keyframes = new KeyframeRequests()
  /** Pixels of its pictures, as far as known. */
  pixels = 0
  /** Unix time at which the newest packet arrived. */
  arrivedMs = 0
  /** RTP timestamp of the newest packet; a packet that is sent again is not the newest one. */
  timestamp = 0
  readonly #clockRateHz: number
  readonly #lost = new LostPackets()
  readonly #statistics = new ReceptionStatistics()
  readonly #bitrate: BitrateControl | undefined
  readonly #captureTimeId: number | undefined
  #newestNumber: number | undefined
  /** When the first packet of the newest frame arrived. */
  #frameMs = 0
  #wraps = 0
  #lastTimestamp: number | undefined
  #loss = { fractionLost: 0, packetsLost: 0 }

  /** `maxBitsPerSecond` limits video; audio has no limit. */
  constructor(options: {
    ssrc: number
    reporterSsrc: number
    clockRateHz: number
    maxBitsPerSecond?: number | undefined
    /** Number of the header extension with the capture time, if the sender sends it. */
    captureTimeId?: number | undefined
  }) {
    this.ssrc = options.ssrc
    this.reporterSsrc = options.reporterSsrc
    this.#clockRateHz = options.clockRateHz
    this.#captureTimeId = options.captureTimeId
    this.clock = new CaptureClock(options.clockRateHz)
    this.#bitrate =
      options.maxBitsPerSecond === undefined ? undefined : new BitrateControl(options.maxBitsPerSecond)
  }

  /**
   * Notes the arrival of a packet and returns its plain copy.
   * `recoverable` is false if so many packets before it are missing that only a keyframe helps.
   */
  receive(
    packet: Uint8Array,
    header: rtp.RtpHeader,
    nowMs: number,
  ): { plain: Uint8Array; recoverable: boolean } {
    const plain = rtp.plainPacket(packet, header)
    this.history.add(header, plain)
    this.#statistics.received(
      header.sequenceNumber,
      Math.round((nowMs * this.#clockRateHz) / 1_000) | 0,
      header.timestamp,
    )
    this.rate.add(nowMs, packet.length * 8)
    const captureTime =
      this.#captureTimeId === undefined ? undefined : rtp.readExtension(packet, this.#captureTimeId)
    if (header.marker) this.frameRate.add(nowMs, 1)
    this.arrivedMs = nowMs
    if (this.#isNewest(header.sequenceNumber)) {
      const isFrame = this.#newestNumber === undefined || header.timestamp !== this.timestamp
      this.#newestNumber = header.sequenceNumber
      this.timestamp = header.timestamp
      if (isFrame) {
        this.#frameMs = nowMs
        this.#bitrate?.frame(nowMs, this.#mediaMs(header.timestamp))
        this.clock.arrived(header.timestamp, nowMs)
      }
      if (captureTime && captureTime.length >= 8)
        this.clock.stamped(rtp.readNtp(captureTime), header.timestamp, nowMs)
    }
    return { plain, recoverable: this.#lost.received(header.sequenceNumber, nowMs) }
  }

  /** Returns whether a packet is newer than all before: packets that were lost arrive again. */
  #isNewest(sequenceNumber: number): boolean {
    if (this.#newestNumber === undefined) return true
    const distance = rtp.sequenceDistance(this.#newestNumber, sequenceNumber)
    return distance > 0 || distance < -RECENT
  }

  /** Returns a timestamp in milliseconds that does not wrap. */
  #mediaMs(timestamp: number): number {
    const last = this.#lastTimestamp
    if (last !== undefined && timestamp < last && last - timestamp > 2 ** 31) this.#wraps++
    if (last !== undefined && timestamp > last && timestamp - last > 2 ** 31) this.#wraps--
    this.#lastTimestamp = timestamp
    return ((this.#wraps * 2 ** 32 + timestamp) * 1_000) / this.#clockRateHz
  }

  /** Handles a message of the sender. */
  handle(message: rtp.RtcpMessage, nowMs: number): void {
    if (message.type === 'sender_report' && message.ssrc === this.ssrc) this.clock.reported(message, nowMs)
    else if (message.type === 'reference_time_echo') this.clock.echoed(message, nowMs)
  }

  /** When the newest frame was captured, in Unix milliseconds; undefined if the sender does not say it, or says nonsense. */
  get captureMs(): number | undefined {
    return this.captureMsOf(this.timestamp)
  }

  /**
   * Returns when a recent frame was captured; undefined as for the newest one. No frame was captured less than half a round trip
   * before its arrival.
   */
  captureMsOf(timestamp: number): number | undefined {
    const captureMs = this.clock.captureMs(timestamp)
    if (captureMs === undefined) return undefined
    const latestMs = this.#frameMs - this.clock.leastDelayMs
    const isPlausible =
      captureMs > this.#frameMs - MAX_LATENCY_MS && captureMs < latestMs + MAX_CLOCK_ERROR_MS
    return isPlausible ? Math.min(captureMs, latestMs) : undefined
  }

  /** Returns the request for the packets that are missing now, if any. */
  requestLost(nowMs: number): Uint8Array | undefined {
    const due = this.#lost.due(nowMs, this.clock.roundTripMs)
    return due.length > 0 ? rtp.nack(this.reporterSsrc, this.ssrc, due) : undefined
  }

  requestKeyframe(): Uint8Array {
    return rtp.keyframeRequest(this.reporterSsrc, this.ssrc)
  }

  /** Returns a report between two regular ones, with which the sender knows that its packets arrive. */
  acknowledge(nowMs: number): Uint8Array {
    const block: rtp.ReportBlock = {
      ssrc: this.ssrc,
      ...this.#loss,
      highestSequenceNumber: this.#statistics.highestSequenceNumber,
      jitter: this.#statistics.jitter,
      ...this.clock.lastReport(nowMs),
    }
    return rtp.concatPackets([
      rtp.receiverReport(this.reporterSsrc, block),
      rtp.sourceDescription(this.reporterSsrc, CNAME),
    ])
  }

  /**
   * Returns the regular report: what arrived, this machine's clock and, for video, the bitrate that the sender may use.
   * @param received bits per second of the publisher's whole video, with all its layers; undefined for a stream that decides
   *   no bitrate.
   * @param demand who watches, and what their paths allow.
   */
  report(nowMs: number, received: number | undefined, demand: Demand): Uint8Array {
    this.#loss = this.#statistics.takeLoss()
    const parts = [this.acknowledge(nowMs), rtp.referenceTime(this.reporterSsrc, rtp.ntpOf(nowMs))]
    const limit =
      received === undefined
        ? undefined
        : this.#bitrate?.update(nowMs, received, this.#loss.fractionLost, demand)
    if (limit !== undefined) parts.push(rtp.bitrateLimit(this.reporterSsrc, this.ssrc, limit))
    return rtp.concatPackets(parts)
  }
}
