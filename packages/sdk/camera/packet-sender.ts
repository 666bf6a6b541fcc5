import { rtp } from '@wheelhouse/protocol'
import { type CameraCodec, isKeyframe, packetize } from './packetizer.ts'

/** Ticks of the clock of RTP timestamps per millisecond (90 kHz). */
const TICKS_PER_MS = 90
/** Packets that can be sent again: about a second of video at 6 Mbit/s. */
const HISTORY = 512
const CNAME = 'robot'

/** A track that sends packets, e.g. of `node-datachannel`. */
export interface PacketTrack {
  isOpen(): boolean
  sendMessageBinary(packet: Uint8Array): boolean
}

interface PacketSenderEvents {
  /** Requests a keyframe, without which a viewer cannot continue. */
  onKeyframeNeeded(): void
  /** Reports the bitrate that the network allows, in bits per second. */
  onBitrate(bitsPerSecond: number): void
}

/** Sends frames as RTP packets over one connection, and answers what the platform reports about them. */
export class PacketSender {
  readonly #track: PacketTrack
  readonly #codec: CameraCodec
  readonly #payloadType: number
  readonly #ssrc: number
  readonly #events: PacketSenderEvents
  readonly #history = new Map<number, Uint8Array>()
  #sequenceNumber = Math.floor(Math.random() * 0x8000)
  #hasKeyframe = false
  #packets = 0
  #bytes = 0
  #lastCaptureMs = 0

  constructor(
    track: PacketTrack,
    options: { codec: CameraCodec; payloadType: number; ssrc: number } & PacketSenderEvents,
  ) {
    this.#track = track
    this.#codec = options.codec
    this.#payloadType = options.payloadType
    this.#ssrc = options.ssrc
    this.#events = options
  }

  /**
   * Sends a frame. The first one must be a keyframe.
   * @param captureMs Unix time of the capture in milliseconds.
   * @returns false if the frame was dropped.
   */
  send(frame: Uint8Array, captureMs: number): boolean {
    if (!this.#track.isOpen()) return false
    if (!this.#hasKeyframe && !isKeyframe(this.#codec, frame)) {
      this.#events.onKeyframeNeeded()
      return false
    }
    this.#hasKeyframe = true
    this.#lastCaptureMs = captureMs
    const payloads = packetize(this.#codec, frame)
    for (const [index, payload] of payloads.entries())
      this.#sendPacket(payload, captureMs, index === payloads.length - 1)
    return payloads.length > 0
  }

  #sendPacket(payload: Uint8Array, captureMs: number, isLast: boolean): void {
    const packet = new Uint8Array(rtp.RTP_HEADER_BYTES + payload.length)
    packet[0] = 0x80
    packet[1] = isLast ? 0x80 : 0
    rtp.writeHeader(packet, {
      payloadType: this.#payloadType,
      sequenceNumber: this.#sequenceNumber,
      timestamp: timestampOf(captureMs),
      ssrc: this.#ssrc,
    })
    packet.set(payload, rtp.RTP_HEADER_BYTES)
    this.#history.set(this.#sequenceNumber, packet)
    this.#history.delete((this.#sequenceNumber - HISTORY) & 0xffff)
    this.#sequenceNumber = (this.#sequenceNumber + 1) & 0xffff
    this.#packets++
    this.#bytes += payload.length
    this.#track.sendMessageBinary(packet)
  }

  /** Sends the regular report, with which the platform knows the age of each frame. */
  report(nowMs: number): void {
    if (!this.#track.isOpen() || this.#lastCaptureMs === 0) return
    const report = rtp.senderReport({
      ssrc: this.#ssrc,
      ntp: rtp.ntpOf(nowMs),
      rtpTimestamp: timestampOf(nowMs),
      packets: this.#packets,
      bytes: this.#bytes,
    })
    this.#track.sendMessageBinary(rtp.concatPackets([report, rtp.sourceDescription(this.#ssrc, CNAME)]))
  }

  /** Handles reports of the platform. */
  receive(compound: Uint8Array): void {
    for (const message of rtp.readRtcp(compound)) {
      if (message.type === 'nack') this.#resend(message.sequenceNumbers)
      else if (message.type === 'keyframe_request') this.#events.onKeyframeNeeded()
      else if (message.type === 'bitrate_limit') this.#events.onBitrate(message.bitsPerSecond)
      else if (message.type === 'reference_time') this.#echo(message)
    }
  }

  #resend(sequenceNumbers: readonly number[]): void {
    for (const sequenceNumber of sequenceNumbers) {
      const packet = this.#history.get(sequenceNumber)
      if (packet && this.#track.isOpen()) this.#track.sendMessageBinary(packet)
    }
  }

  #echo({ senderSsrc: receiverSsrc, compactNtp }: rtp.ReferenceTime): void {
    if (!this.#track.isOpen()) return
    const echo = rtp.referenceTimeEcho(this.#ssrc, { receiverSsrc, compactNtp, delay: 0 })
    this.#track.sendMessageBinary(echo)
  }
}

/** Returns the RTP timestamp of a Unix time: the clock of the robot, so that reports and frames agree. */
const timestampOf = (unixMs: number): number => Math.round(unixMs * TICKS_PER_MS) % 2 ** 32
