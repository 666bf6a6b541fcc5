import { rtp } from '@wheelhouse/protocol'
import type { Track } from 'node-datachannel'
import { TokenBucket } from '../../../core/concurrency/token-bucket.ts'
import type { IncomingStream } from './incoming-stream.ts'
import { OutgoingStream } from './outgoing-stream.ts'
import type { MediaPacket } from './publisher.ts'
import { sendPacket } from './send-packet.ts'

/**
 * Packets that are sent to one viewer again: more than a tenth of a stream of 6 Mbit/s. Without a limit, requests of one viewer could
 * occupy the process.
 */
const RESENT_PACKETS = { burst: 256, refillMs: 2_000 }
/** Echoes of the viewer's clock. */
const ECHOES = { burst: 10, refillMs: 1_000 }

/** The video or the audio that one viewer receives. */
export class ViewerTrack {
  readonly #track: Track
  readonly #stream: OutgoingStream
  readonly #isVideo: boolean
  readonly #resent: TokenBucket
  readonly #echoes: TokenBucket
  /** The layer that the viewer receives from its next keyframe on; undefined for a camera without layers. */
  wanted: IncomingStream | undefined

  constructor(
    track: Track,
    options: { ssrc: number; payloadType: number; clockRateHz: number; isVideo: boolean; nowMs: number },
  ) {
    this.#track = track
    this.#resent = new TokenBucket(RESENT_PACKETS, options.nowMs)
    this.#echoes = new TokenBucket(ECHOES, options.nowMs)
    this.#isVideo = options.isVideo
    this.#stream = new OutgoingStream({ ...options, firstSequenceNumber: options.ssrc })
  }

  /**
   * Sends a packet to the viewer. Video, and another layer of it, begins with a keyframe; until then the layer before continues.
   * Returns whether the viewer waits for a keyframe.
   */
  forward({ stream, header, plain, isStart }: MediaPacket, nowMs: number): boolean {
    if (!this.#track.isOpen()) return false
    if (this.#isVideo && !this.#stream.hasBegun(stream)) {
      if (this.wanted && stream !== this.wanted) return false
      if (!isStart) return true
    }
    if (this.#stream.rewrite(plain, header, stream, nowMs)) sendPacket(this.#track, plain)
    return false
  }

  /** Sends the regular report. */
  report(nowMs: number): void {
    const report = this.#track.isOpen() ? this.#stream.report(nowMs) : undefined
    if (report) sendPacket(this.#track, report)
  }

  /** Answers a request for lost packets, or the viewer's clock. */
  handle(message: rtp.RtcpMessage, nowMs: number): void {
    if (!this.#track.isOpen()) return
    if (message.type === 'nack' && message.ssrc === this.#stream.ssrc) {
      for (const sequenceNumber of message.sequenceNumbers) {
        if (this.#resent.take(nowMs) > 0) return
        const packet = this.#stream.lost(sequenceNumber)
        if (packet) sendPacket(this.#track, packet)
      }
    } else if (message.type === 'reference_time' && this.#echoes.take(nowMs) === 0) {
      const { senderSsrc: receiverSsrc, compactNtp } = message
      sendPacket(
        this.#track,
        rtp.referenceTimeEcho(this.#stream.ssrc, { receiverSsrc, compactNtp, delay: 0 }),
      )
    }
  }
}
