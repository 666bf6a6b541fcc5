import { rtp } from '@wheelhouse/protocol'
import type { Track } from 'node-datachannel'
import { TokenBucket } from '../../../core/concurrency/token-bucket.ts'
import { withoutCandidates } from '../../../core/webrtc/session-description.ts'
import { withLayersAndExtensions, withOfferedGroup } from './answer.ts'
import type { Demand } from './bitrate-control.ts'
import { IncomingStream } from './incoming-stream.ts'
import { beginsKeyframe, keyframePixels, ParameterSetCheck, type VideoCodec } from './keyframes.ts'
import {
  clockRateHz,
  hasParameterSets,
  type Kind,
  type Offer,
  OfferError,
  type OfferedCodec,
  type OfferedMedia,
  restrictOffer,
} from './offer.ts'
import { type PeerEnvironment, type PeerEvents, PeerLink } from './peer-link.ts'
import { sendPacket } from './send-packet.ts'

/** A layer without packets for this time is not sent at present: senders drop the largest ones on a slow path. */
const INACTIVE_MS = 1_000

/** The layers (simulcast) in which a publisher sends its picture, each as a stream. */
class VideoLayers {
  readonly #names: readonly string[]
  readonly #extensionId: number
  readonly #byName = new Map<string, IncomingStream>()

  constructor(names: readonly string[], extensionId: number) {
    this.#names = names
    this.#extensionId = extensionId
  }

  /**
   * Returns the stream of a packet. The first packets of a layer carry its name. Returns undefined for a packet of no known layer.
   * @param create creates the stream of a new source
   */
  streamOf(
    packet: Uint8Array,
    ssrc: number,
    nowMs: number,
    create: () => IncomingStream,
  ): IncomingStream | undefined {
    for (const stream of this.#byName.values()) if (stream.ssrc === ssrc) return stream
    const value = rtp.readExtension(packet, this.#extensionId)
    const name = value && String.fromCharCode(...value)
    if (name === undefined || !this.#names.includes(name)) return undefined
    // One source at a time, so that a sender cannot have streams created without a limit.
    const known = this.#byName.get(name)
    if (known && nowMs - known.arrivedMs < INACTIVE_MS) return undefined
    const stream = create()
    this.#byName.set(name, stream)
    return stream
  }

  /** All layers that have been sent. */
  get all(): readonly IncomingStream[] {
    return [...this.#byName.values()]
  }

  /** Returns the layers that are sent at present, by pixels, or else by bitrate, the smallest first. */
  active(nowMs: number): IncomingStream[] {
    return this.all
      .filter(({ arrivedMs }) => nowMs - arrivedMs < INACTIVE_MS)
      .toSorted((a, b) => a.pixels - b.pixels || a.rate.perSecond(nowMs) - b.rate.perSecond(nowMs))
  }
}

/** A stream may be replaced by one of another source after this time without packets. */
const SILENT_SOURCE_MS = 1_000
/** A publisher without packets for this time is gone. */
const SILENT_MS = 10_000

/** A publisher may send what this time allows at once. */
const REFILL_MS = 2_000
/** A publisher that sends this many times more than it may is closed: it would delay the cameras of others. */
const TOLERANCE = 4
const AUDIO_BITS_PER_SECOND = 1_000_000
const RECEIVED_PACKETS = { burst: 20_000, refillMs: REFILL_MS }

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
  /** Whether the peer plays the sound of the operator. */
  readonly takesSound: boolean
  readonly #link: PeerLink
  readonly #environment: PeerEnvironment
  readonly #events: PublisherEvents
  readonly #createdMs: number
  readonly #tracks = new Map<Kind, Track>()
  /** The audio, and the video of a publisher without layers. */
  readonly #streams = new Map<Kind, IncomingStream>()
  readonly #layers: VideoLayers | undefined
  readonly #opus: OfferedCodec | undefined
  readonly #receivedBits: TokenBucket
  readonly #receivedPackets: TokenBucket
  /** Undefined for a stream that can be decoded by what its offer says. */
  readonly #parameterSets: ParameterSetCheck | undefined
  readonly #captureTimeIds: Readonly<Record<Kind, number | undefined>>

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
    this.#opus = audio
    this.id = id
    this.video = video
    this.hasAudio = audio !== undefined && offer.audio?.sends === true
    this.takesSound = audio !== undefined && offer.audio?.receives === true
    this.#environment = environment
    this.#events = events
    this.#createdMs = environment.nowMs()
    if (video.codec === 'H264' && !hasParameterSets(video)) this.#parameterSets = new ParameterSetCheck()
    this.#captureTimeIds = {
      video: offer.video?.extensions.captureTime,
      audio: undefined,
    }
    // With two media lines, the library knows only streams that the offer names, which layers are not.
    const accepted = { ...(offer.video as OfferedMedia), ...(audio && { layers: [] }) }
    const { layers, extensions } = accepted
    if (layers.length > 1 && extensions.layer !== undefined)
      this.#layers = new VideoLayers(layers, extensions.layer)
    const answered = (answer: string) =>
      events.answered(withOfferedGroup(withLayersAndExtensions(answer, accepted), sdp))
    const bitsPerSecond = TOLERANCE * environment.settings.maxBitsPerSecond + AUDIO_BITS_PER_SECOND
    const bits = { burst: (bitsPerSecond * REFILL_MS) / 1_000, refillMs: REFILL_MS }
    this.#receivedBits = new TokenBucket(bits, this.#createdMs)
    this.#receivedPackets = new TokenBucket(RECEIVED_PACKETS, this.#createdMs)
    this.#link = new PeerLink(id, environment, { ...events, answered }, { manual: false })
    this.#link.negotiate((connection) => {
      connection.onTrack(environment.guard.handler('media:track', (track: Track) => this.#add(track)))
      connection.setRemoteDescription(restrictOffer(withoutCandidates(sdp), { video, audio }), 'offer')
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
    if (this.#receivedBits.take(nowMs, packet.length * 8) > 0 || this.#receivedPackets.take(nowMs) > 0)
      return this.close('too much data')
    if (rtp.isRtcp(packet)) {
      for (const message of rtp.readRtcp(packet))
        for (const [, stream] of this.#allStreams) stream.handle(message, nowMs)
      return
    }
    const header = rtp.readRtp(packet)
    const stream = header && this.#streamOf(kind, packet, header.ssrc, nowMs)
    if (!stream) return
    const { plain, recoverable } = stream.receive(packet, header, nowMs)
    if (!recoverable && kind === 'video') this.requestKeyframe(stream)
    const payload = packet.subarray(header.payloadStart, header.payloadEnd)
    if (kind === 'video') this.#parameterSets?.add(payload, header.timestamp)
    const isStart = kind === 'audio' || this.#isKeyframe(stream, payload)
    this.#events.packet({ kind, stream, header, plain, isStart })
  }

  #isKeyframe(stream: IncomingStream, payload: Uint8Array): boolean {
    const codec = this.video.codec as VideoCodec
    if (!beginsKeyframe(codec, payload)) return false
    stream.keyframes.arrived()
    stream.pixels = keyframePixels(codec, payload) ?? stream.pixels
    return true
  }

  /** Returns the stream of a packet. Without layers, a track has one source at a time. */
  #streamOf(kind: Kind, packet: Uint8Array, ssrc: number, nowMs: number): IncomingStream | undefined {
    if (kind === 'video' && this.#layers)
      return this.#layers.streamOf(packet, ssrc, nowMs, () => this.#createStream(kind, ssrc))
    const known = this.#streams.get(kind)
    if (known?.ssrc === ssrc) return known
    if (known && nowMs - known.arrivedMs < SILENT_SOURCE_MS) return undefined
    const stream = this.#createStream(kind, ssrc)
    this.#streams.set(kind, stream)
    return stream
  }

  #createStream(kind: Kind, ssrc: number): IncomingStream {
    return new IncomingStream({
      ssrc,
      reporterSsrc: this.id,
      clockRateHz: clockRateHz[kind === 'video' ? this.video.codec : 'opus'],
      captureTimeId: this.#captureTimeIds[kind],
      ...(kind === 'video' && { maxBitsPerSecond: this.#environment.settings.maxBitsPerSecond }),
    })
  }

  /** Why the video cannot be decoded; undefined if it can, as far as known. */
  get problem(): string | undefined {
    return this.#parameterSets?.problem
  }

  /** The layers that are sent at present, the smallest first; empty for a publisher that sends its picture once. */
  get layers(): readonly IncomingStream[] {
    return this.#layers?.active(this.#environment.nowMs()) ?? []
  }

  /** The video that arrives, of the largest layer; undefined before its first packet. */
  get videoStream(): IncomingStream | undefined {
    return this.#streams.get('video') ?? this.layers.at(-1) ?? this.#layers?.all.at(-1)
  }

  /** Bits per second of the video that arrives, with all layers. */
  get bitsPerSecond(): number {
    const nowMs = this.#environment.nowMs()
    return this.#videoStreams.reduce((sum, { rate }) => sum + rate.perSecond(nowMs), 0)
  }

  get #videoStreams(): readonly IncomingStream[] {
    const single = this.#streams.get('video')
    return single ? [single] : (this.#layers?.all ?? [])
  }

  get #allStreams(): readonly (readonly [Kind, IncomingStream])[] {
    const audio = this.#streams.get('audio')
    const video = this.#videoStreams.map((stream) => ['video', stream] as const)
    return audio ? [...video, ['audio', audio]] : video
  }

  /** Ends a publisher that sends nothing. */
  checkSilence(): void {
    const arrivedMs = this.#allStreams.map(([, stream]) => stream.arrivedMs)
    if (this.#environment.nowMs() - Math.max(this.#createdMs, ...arrivedMs) > SILENT_MS) this.close('silent')
  }

  /** Asks for a keyframe of a stream, at most twice a second, until one arrives. Default: the video, or its largest layer. */
  requestKeyframe(stream = this.videoStream): void {
    stream?.keyframes.want()
    if (stream?.keyframes.takeDue(this.#environment.nowMs())) this.#send('video', stream.requestKeyframe())
  }

  /** Asks for what is missing: lost packets, and keyframes that have not arrived. */
  requestMissing(): void {
    const nowMs = this.#environment.nowMs()
    for (const [kind, stream] of this.#allStreams) {
      const request = stream.requestLost(nowMs)
      if (request) this.#send(kind, request)
      if (stream.keyframes.takeDue(nowMs)) this.#send(kind, stream.requestKeyframe())
    }
  }

  /** Sends a report between two regular ones. */
  acknowledge(): void {
    const nowMs = this.#environment.nowMs()
    for (const [kind, stream] of this.#allStreams) this.#send(kind, stream.acknowledge(nowMs))
  }

  /** Sends the regular reports. The largest layer decides the bitrate of all. */
  report(demand: Demand): void {
    const nowMs = this.#environment.nowMs()
    const [largest, received] = [this.videoStream, this.bitsPerSecond]
    for (const [kind, stream] of this.#allStreams)
      this.#send(kind, stream.report(nowMs, stream === largest ? received : undefined, demand))
  }

  /** Sends a packet of the operator's microphone, with the payload type that the robot uses for its codec. */
  sendAudio(packet: Uint8Array, header: rtp.RtpHeader): void {
    if (this.#opus === undefined) return
    const plain = rtp.plainPacket(packet, header)
    rtp.writeHeader(plain, { ...header, payloadType: this.#opus.payloadType })
    this.#send('audio', plain)
  }

  #send(kind: Kind, packet: Uint8Array): void {
    const track = this.#tracks.get(kind)
    if (track?.isOpen()) sendPacket(track, packet)
  }

  close(reason: string): void {
    this.#link.close(reason)
  }
}
