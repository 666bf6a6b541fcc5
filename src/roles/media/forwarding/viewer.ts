import { randomInt } from 'node:crypto'
import { rtp } from '@wheelhouse/protocol'
import { Audio, type PeerConnection, type Track, Video } from 'node-datachannel'
import { TokenBucket } from '../../../core/concurrency/token-bucket.ts'
import { withoutCandidates } from '../../../core/webrtc/session-description.ts'
import { withOfferedGroup, withRoundTripFeedback } from './answer.ts'
import type { IncomingStream } from './incoming-stream.ts'
import { LayerChoice } from './layer-choice.ts'
import {
  clockRateHz,
  findCodec,
  type Kind,
  type Offer,
  OfferError,
  type OfferedCodec,
  type OfferedMedia,
  parametersFor,
} from './offer.ts'
import { type PeerEnvironment, type PeerEvents, PeerLink } from './peer-link.ts'
import type { MediaPacket } from './publisher.ts'
import { ViewerTrack } from './viewer-track.ts'

/** A viewer that reports nothing for this time is gone. Browsers report at least once a second. */
const ABANDONED_MS = 10_000
/** Packets of a viewer: sound of 50 packets a second, and reports. One who sends more is closed. */
const RECEIVED_PACKETS = { burst: 2_000, refillMs: 4_000 }
/** Largest identifier of a source. */
const MAX_SSRC = 0xffff_ffff
const MEDIA_STREAM = 'wheelhouse'

interface ViewerEvents extends PeerEvents {
  /** Requests a keyframe of a layer, without which the viewer cannot continue; undefined for a camera without layers. */
  keyframeNeeded(layer: IncomingStream | undefined): void
  /** Forwards a packet of the viewer's microphone. */
  spoke(packet: Uint8Array, header: rtp.RtpHeader): void
}

interface ViewerRequest {
  readonly offer: Offer
  readonly sdp: string
  /** The codec of the camera. */
  readonly source: OfferedCodec
  readonly isOperator: boolean
  /** Whether the robot plays the sound of its operator at this camera. */
  readonly takesSound: boolean
}

/** A peer that receives the video of one camera, and its sound. */
export class Viewer {
  readonly id: number
  readonly isOperator: boolean
  readonly #codec: OfferedCodec
  readonly #link: PeerLink
  readonly #environment: PeerEnvironment
  readonly #events: ViewerEvents
  readonly #tracks = new Map<Kind, ViewerTrack>()
  readonly #layerChoice = new LayerChoice()
  readonly #received: TokenBucket
  /** Payload type of the microphone; undefined without one. */
  #microphoneType: number | undefined
  #receivedMs: number
  #limit: number | undefined

  /** @throws OfferError if the viewer cannot play the codec of the camera. */
  constructor(id: number, request: ViewerRequest, environment: PeerEnvironment, events: ViewerEvents) {
    const { offer, sdp, source, isOperator, takesSound } = request
    const codec = offer.video?.receives ? findCodec(offer.video, source) : undefined
    if (!offer.video || !codec)
      throw new OfferError(
        `The camera sends ${source.codec}. The offer does not receive video with this codec.`,
      )
    this.id = id
    this.isOperator = isOperator
    this.#codec = codec
    this.#environment = environment
    this.#events = events
    this.#receivedMs = environment.nowMs()
    this.#received = new TokenBucket(RECEIVED_PACKETS, this.#receivedMs)
    const answered = (answer: string) =>
      events.answered(withOfferedGroup(withRoundTripFeedback(answer, sdp), sdp))
    this.#link = new PeerLink(id, environment, { ...events, answered }, { manual: true })
    const { video, audio } = offer
    this.#link.negotiate((connection) => {
      connection.setRemoteDescription(withoutCandidates(sdp), 'offer')
      this.#addVideo(connection, video.mid, { ...codec, parameters: parametersFor(codec, source) })
      if (audio) this.#addAudio(connection, audio, isOperator && takesSound)
      connection.setLocalDescription('answer')
    })
  }

  #addVideo(connection: PeerConnection, mid: string, codec: OfferedCodec): void {
    const video = new Video(mid, 'SendOnly')
    if (codec.codec === 'VP8') video.addVP8Codec(codec.payloadType)
    else video.addH264Codec(codec.payloadType, codec.parameters)
    const track = this.#add(connection, 'video', video, codec)
    track.onOpen(this.#environment.guard.handler('media:viewer-open', () => this.#requestKeyframe()))
  }

  /** Adds the sound of the camera. A microphone that is offered is heard at the robot, if the viewer may speak. */
  #addAudio(
    connection: PeerConnection,
    { mid, receives, sends, codecs }: OfferedMedia,
    maySpeak: boolean,
  ): void {
    const opus = codecs[0]
    if (!receives || !opus) return
    const hasMicrophone = maySpeak && sends
    if (hasMicrophone) this.#microphoneType = opus.payloadType
    const audio = new Audio(mid, hasMicrophone ? 'SendRecv' : 'SendOnly')
    audio.addOpusCodec(opus.payloadType, opus.parameters)
    this.#add(connection, 'audio', audio, opus)
  }

  #add(connection: PeerConnection, kind: Kind, media: Video | Audio, offered: OfferedCodec): Track {
    const { payloadType, codec } = offered
    const ssrc = randomInt(1, MAX_SSRC)
    media.addSSRC(ssrc, MEDIA_STREAM, MEDIA_STREAM, kind)
    const track = connection.addTrack(media)
    const { guard, nowMs } = this.#environment
    const options = {
      ssrc,
      payloadType,
      clockRateHz: clockRateHz[codec],
      isVideo: kind === 'video',
      nowMs: nowMs(),
    }
    this.#tracks.set(kind, new ViewerTrack(track, options))
    track.onMessage(guard.handler('media:from-viewer', (packet: Uint8Array) => this.#receive(kind, packet)))
    return track
  }

  #receive(kind: Kind, packet: Uint8Array): void {
    const nowMs = this.#environment.nowMs()
    this.#receivedMs = nowMs
    if (this.#received.take(nowMs) > 0) return this.close('too many packets')
    if (!rtp.isRtcp(packet)) {
      const header = kind === 'audio' && this.isOperator ? rtp.readRtp(packet) : undefined
      if (header?.payloadType === this.#microphoneType && header) this.#events.spoke(packet, header)
      return
    }
    for (const message of rtp.readRtcp(packet)) {
      if (message.type === 'keyframe_request') this.#requestKeyframe()
      else if (message.type === 'bitrate_limit') this.#limit = message.bitsPerSecond
      else this.#tracks.get(kind)?.handle(message, nowMs)
    }
  }

  #requestKeyframe(): void {
    this.#events.keyframeNeeded(this.#tracks.get('video')?.wanted)
  }

  /** Chooses among the layers of the camera, the smallest first, by what the viewer's path allows. */
  chooseLayer(layers: readonly IncomingStream[]): void {
    const video = this.#tracks.get('video')
    if (!video) return
    if (layers.length === 0) {
      video.wanted = undefined
      return
    }
    const nowMs = this.#environment.nowMs()
    const rates = layers.map(({ rate }) => rate.perSecond(nowMs))
    video.wanted = layers[this.#layerChoice.choose(rates, this.#limit, nowMs)]
  }

  /** Returns whether the viewer can play a codec without a new offer. */
  plays({ codec }: OfferedCodec): boolean {
    return this.#codec.codec === codec
  }

  /** The bitrate that the viewer's path allows, by its own estimate, in bits per second; undefined before the first one. */
  get bitsPerSecondLimit(): number | undefined {
    return this.#limit
  }

  forward(packet: MediaPacket, nowMs: number): void {
    if (this.#tracks.get(packet.kind)?.forward(packet, nowMs)) this.#requestKeyframe()
  }

  /** Sends the regular reports, and ends a viewer that is gone. */
  report(): void {
    const nowMs = this.#environment.nowMs()
    if (nowMs - this.#receivedMs > ABANDONED_MS) return this.close('abandoned')
    for (const track of this.#tracks.values()) track.report(nowMs)
  }

  close(reason: string): void {
    this.#link.close(reason)
  }
}
