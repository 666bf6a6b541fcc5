import { rtp } from '@wheelhouse/protocol'
import type { Track } from 'node-datachannel'
import { withoutCandidates } from '../../core/webrtc/session-description.ts'
import { IncomingStream } from './incoming-stream.ts'
import { beginsKeyframe, type VideoCodec } from './keyframes.ts'
import { clockRateHz, type Kind, type Offer, OfferError, type OfferedCodec, restrictOffer } from './offer.ts'
import { type PeerEnvironment, type PeerEvents, PeerLink } from './peer-link.ts'
import { sendPacket } from './send-packet.ts'

/** Least time between two requests for a keyframe. A keyframe is ten times as large as another frame. */
const KEYFRAME_REQUEST_MS = 500
/** A stream may be replaced by one of another source after this time without packets. */
const SILENT_SOURCE_MS = 1_000
/** A publisher without packets for this time is gone. */
const SILENT_MS = 10_000

/** A packet of a publisher on its way to the viewers. */
export interface MediaPacket {
  readonly kind: Kind
  readonly stream: IncomingStream
  readonly header: rtp.RtpHeader
  /** The packet without extensions. Its header may be overwritten. */
  readonly plain: Uint8Array
  /** Whether viewers may begin with it. */
  readonly isStart: boolean
}

interface PublisherEvents extends PeerEvents {
  packet(packet: MediaPacket): void
}

/** A peer that sends the video of one camera, and maybe its sound. */
export class Publisher {
  readonly id: number
  readonly video: OfferedCodec
  readonly hasAudio: boolean
  readonly #link: PeerLink
  readonly #environment: PeerEnvironment
  readonly #events: PublisherEvents
  readonly #createdMs: number
  readonly #tracks = new Map<Kind, Track>()
  readonly #streams = new Map<Kind, IncomingStream>()
  #keyframeRequestedMs = Number.NEGATIVE_INFINITY
  #keyframeWanted = false

  /** @throws OfferError if the offer has no video that the platform forwards. */
  constructor(
    id: number,
    { offer, sdp }: { offer: Offer; sdp: string },
    environment: PeerEnvironment,
    events: PublisherEvents,
  ) {
    const video = offer.video?.sends ? offer.video.codecs[0] : undefined
    if (!video)
      throw new OfferError(
        'The offer sends no video as H.264 (packetization-mode=1) or VP8. Offer one of them.',
      )
    const audio = offer.audio?.codecs[0]
    this.id = id
    this.video = video
    this.hasAudio = audio !== undefined && offer.audio?.sends === true
    this.#environment = environment
    this.#events = events
    this.#createdMs = environment.nowMs()
    this.#link = new PeerLink(id, environment, events, { manual: false })
    this.#link.negotiate((connection) => {
      connection.onTrack(environment.guard.handler('media:track', (track: Track) => this.#add(track)))
      connection.setRemoteDescription(withoutCandidates(restrictOffer(sdp, { video, audio })), 'offer')
    })
  }

  #add(track: Track): void {
    const kind = track.type() === 'audio' ? 'audio' : 'video'
    this.#tracks.set(kind, track)
    track.onMessage(
      this.#environment.guard.handler('media:published', (packet: Uint8Array) => this.#receive(kind, packet)),
    )
  }

  #receive(kind: Kind, packet: Uint8Array): void {
    const nowMs = this.#environment.nowMs()
    if (rtp.isRtcp(packet)) {
      for (const message of rtp.readRtcp(packet))
        for (const stream of this.#streams.values()) stream.handle(message, nowMs)
      return
    }
    const header = rtp.readRtp(packet)
    const stream = header && this.#streamOf(kind, header.ssrc, nowMs)
    if (!stream) return
    const { plain, recoverable } = stream.receive(packet, header, nowMs)
    if (!recoverable && kind === 'video') this.requestKeyframe()
    const isStart =
      kind === 'audio' ||
      beginsKeyframe(this.video.codec as VideoCodec, packet.subarray(header.payloadStart, header.payloadEnd))
    if (isStart && kind === 'video') this.#keyframeWanted = false
    this.#events.packet({ kind, stream, header, plain, isStart })
  }

  /** Returns the stream of a source. A track has one source at a time. */
  #streamOf(kind: Kind, ssrc: number, nowMs: number): IncomingStream | undefined {
    const known = this.#streams.get(kind)
    if (known?.ssrc === ssrc) return known
    if (known && nowMs - known.arrivedMs < SILENT_SOURCE_MS) return undefined
    const stream = new IncomingStream({
      ssrc,
      reporterSsrc: this.id,
      clockRateHz: clockRateHz[kind === 'video' ? this.video.codec : 'opus'],
      ...(kind === 'video' && { maxBitsPerSecond: this.#environment.settings.maxBitsPerSecond }),
    })
    this.#streams.set(kind, stream)
    return stream
  }

  /** The video that arrives; undefined before its first packet. */
  get videoStream(): IncomingStream | undefined {
    return this.#streams.get('video')
  }

  /** Ends a publisher that sends nothing. */
  checkSilence(): void {
    const arrivedMs = [...this.#streams.values()].map((stream) => stream.arrivedMs)
    if (this.#environment.nowMs() - Math.max(this.#createdMs, ...arrivedMs) > SILENT_MS) this.close('silent')
  }

  /** Asks for a keyframe, at most twice a second, until one arrives. */
  requestKeyframe(): void {
    this.#keyframeWanted = true
    const nowMs = this.#environment.nowMs()
    const stream = this.videoStream
    if (!stream || nowMs - this.#keyframeRequestedMs < KEYFRAME_REQUEST_MS) return
    this.#keyframeRequestedMs = nowMs
    this.#send('video', stream.requestKeyframe())
  }

  /** Asks for what is missing: lost packets, and the keyframe if it has not arrived. */
  requestMissing(): void {
    const nowMs = this.#environment.nowMs()
    for (const [kind, stream] of this.#streams) {
      const request = stream.requestLost(nowMs)
      if (request) this.#send(kind, request)
    }
    if (this.#keyframeWanted) this.requestKeyframe()
  }

  /** Sends the regular reports. `viewerLimit` is what the operator's path allows in bits per second. */
  report(viewerLimit: number | undefined): void {
    const nowMs = this.#environment.nowMs()
    for (const [kind, stream] of this.#streams) this.#send(kind, stream.report(nowMs, viewerLimit))
  }

  /** Sends a packet of the operator's microphone. */
  sendAudio(packet: Uint8Array): void {
    this.#send('audio', packet)
  }

  #send(kind: Kind, packet: Uint8Array): void {
    const track = this.#tracks.get(kind)
    if (track?.isOpen()) sendPacket(track, packet)
  }

  close(reason: string): void {
    this.#link.close(reason)
  }
}
