import { type MediaDescription, parse, write } from 'sdp-transform'
import { withoutCandidates } from '../../../core/webrtc/session-description.ts'
import type { VideoCodec } from './keyframes.ts'

export type Codec = VideoCodec | 'opus'
export type Kind = 'video' | 'audio'

/** A codec under the number that an offer gives it. */
export interface OfferedCodec {
  readonly codec: Codec
  readonly payloadType: number
  /** Format parameters (`a=fmtp`); empty for none. */
  readonly parameters: string
}

/** Video or audio in an offer. `sends` and `receives` are from the view of the peer that offers. */
export interface OfferedMedia {
  readonly mid: string
  readonly sends: boolean
  readonly receives: boolean
  /** In the order of the peer's preference. Empty if it has none that the platform forwards. */
  readonly codecs: readonly OfferedCodec[]
  /** Names (RID) of the layers in which the peer would send the same picture (RFC 8853); empty without simulcast. */
  readonly layers: readonly string[]
  /** Numbers of the header extensions that the platform uses. */
  readonly extensions: HeaderExtensions
}

/** Numbers of header extensions; undefined for those that are not offered. */
export interface HeaderExtensions {
  /** The name of the layer that a packet belongs to (RFC 8852). */
  readonly layer: number | undefined
  /** When the frame of a packet was captured, by the clock of the sender. */
  readonly captureTime: number | undefined
}

export const extensionUris: Readonly<Record<keyof HeaderExtensions, string>> = {
  layer: 'urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
  captureTime: 'http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time',
}

/** An offer of a peer to send or receive one video and one audio. */
export interface Offer {
  readonly video: OfferedMedia | undefined
  readonly audio: OfferedMedia | undefined
}

/** An offer that cannot be accepted. The message is for its sender. */
export class OfferError extends Error {
  override readonly name = 'OfferError'
}

/** Clock rates of RTP timestamps in Hz. */
export const clockRateHz: Readonly<Record<Codec, number>> = { VP8: 90_000, H264: 90_000, opus: 48_000 }

/** Audio and video lines, each one also in a rejected form. */
const MAX_LINES = 4
/** Lines of an offer without its candidates; browsers send about two hundred. Parsing takes time from the forwarding. */
const MAX_SDP_LINES = 1_000
/** Layers of one picture. Browsers send at most three. */
const MAX_LAYERS = 4

/**
 * Reads an offer.
 * @throws OfferError if it is not a WebRTC offer, or has more than one video and one audio.
 */
export function readOffer(sdp: string): Offer {
  const lines = parseLines(sdp)
  const lineOf = (kind: Kind): OfferedMedia | undefined => {
    const ofKind = lines.filter(({ type, port }) => type === kind && port !== 0)
    if (ofKind.length > 1) throw new OfferError(`The offer has ${ofKind.length} ${kind} lines. Offer one.`)
    return ofKind[0] && readLine(ofKind[0])
  }
  if (lines.some(({ type }) => type !== 'video' && type !== 'audio'))
    throw new OfferError('The offer has lines other than video and audio. Offer no data channel.')
  const offer = { video: lineOf('video'), audio: lineOf('audio') }
  if (!offer.video && !offer.audio) throw new OfferError('The offer has neither video nor audio.')
  return offer
}

function parseLines(sdp: string): MediaDescription[] {
  const used = withoutCandidates(sdp)
  if (used.split('\r\n', MAX_SDP_LINES + 1).length > MAX_SDP_LINES)
    throw new OfferError(`The offer has more than ${MAX_SDP_LINES} lines.`)
  const session = parse(used)
  const lines = session.media
  if (!sdp.startsWith('v=0') || lines.length === 0)
    throw new OfferError('The body is not a session description (SDP) with media.')
  if (lines.length > MAX_LINES)
    throw new OfferError(`The offer has ${lines.length} media lines. At most ${MAX_LINES} are allowed.`)
  for (const line of lines) {
    if (!/^UDP\/TLS\/RTP\/SAVPF$/.test(line.protocol))
      throw new OfferError(`The offer has media over ${line.protocol}. Use UDP/TLS/RTP/SAVPF.`)
    if (!(line.iceUfrag ?? session.iceUfrag) || !(line.fingerprint ?? session.fingerprint))
      throw new OfferError('The offer has no ICE user fragment or no DTLS fingerprint.')
  }
  const bundle = (session.groups ?? []).find(({ type }) => type === 'BUNDLE')
  const bundled = String(bundle?.mids ?? '').split(' ') // the parser makes a number of text that is one
  if (lines.length > 1 && lines.some(({ mid, port }) => port !== 0 && !bundled.includes(String(mid))))
    throw new OfferError(
      'The offer has media lines without BUNDLE. Offer all of them in one transport: a=group:BUNDLE.',
    )
  return lines
}

function readLine(line: MediaDescription): OfferedMedia {
  if (line.mid === undefined) throw new OfferError('A media line of the offer has no mid.')
  const direction = line.direction ?? 'sendrecv'
  return {
    mid: String(line.mid),
    sends: direction === 'sendonly' || direction === 'sendrecv',
    receives: direction === 'recvonly' || direction === 'sendrecv',
    codecs: codecsOf(line),
    layers: layersOf(line),
    extensions: {
      layer: extensionOf(line, extensionUris.layer),
      captureTime: extensionOf(line, extensionUris.captureTime),
    },
  }
}

function layersOf({ simulcast, rids = [] }: MediaDescription): string[] {
  if (simulcast?.dir1 !== 'send' && simulcast?.dir2 !== 'send') return []
  const names = rids.filter(({ direction }) => direction === 'send').map(({ id }) => String(id))
  return names.slice(0, MAX_LAYERS)
}

const extensionOf = ({ ext = [] }: MediaDescription, wanted: string): number | undefined =>
  ext.find(({ uri }) => uri === wanted)?.value

/** Returns the codecs that the platform forwards, in the order of the line. */
function codecsOf(line: MediaDescription): OfferedCodec[] {
  // The parser makes a number of text that is one.
  const order = String(line.payloads ?? '')
    .split(' ')
    .map(Number)
  return order.flatMap((payloadType): OfferedCodec[] => {
    const map = line.rtp.find(({ payload }) => payload === payloadType)
    const codec = map && forwardedCodecs.get(map.codec.toLowerCase())
    if (!codec || map.rate !== clockRateHz[codec]) return []
    const parameters = String(line.fmtp.find(({ payload }) => payload === payloadType)?.config ?? '')
    if (codec === 'H264' && parameterOf(parameters, 'packetization-mode') !== '1') return []
    return [{ codec, payloadType, parameters }]
  })
}

const forwardedCodecs = new Map<string, Codec>([
  ['vp8', 'VP8'],
  ['h264', 'H264'],
  ['opus', 'opus'],
])

function parameterOf(parameters: string, name: string): string | undefined {
  const pair = parameters.split(';').find((part) => part.trim().startsWith(`${name}=`))
  return pair?.slice(pair.indexOf('=') + 1).trim() // base64 has = at its end
}

const PARAMETER_SETS = 'sprop-parameter-sets'

/** Returns whether an offer has the parameter sets of its H.264. */
export const hasParameterSets = ({ parameters }: OfferedCodec): boolean =>
  parameterOf(parameters, PARAMETER_SETS) !== undefined

/** Returns the parameters of a codec for the peer that plays it: its own, and the parameter sets of the source. */
export function parametersFor({ parameters }: OfferedCodec, source: OfferedCodec): string {
  const sets = parameterOf(source.parameters, PARAMETER_SETS)
  return sets === undefined ? parameters : `${parameters};${PARAMETER_SETS}=${sets}`
}

/** Returns profile and constraints of H.264 (RFC 6184, section 8.1). Without the parameter, baseline. */
const profileOf = ({ parameters }: OfferedCodec): string =>
  (parameterOf(parameters, 'profile-level-id') ?? '420010').slice(0, 4).toLowerCase()

/** Returns the codec of an offer with which its peer plays a stream; undefined if it cannot. */
export function findCodec(media: OfferedMedia, source: OfferedCodec): OfferedCodec | undefined {
  const same = media.codecs.filter(({ codec }) => codec === source.codec)
  if (source.codec !== 'H264') return same[0]
  return same.find((offered) => profileOf(offered) === profileOf(source)) ?? same[0]
}

/** Returns whether the platform uses a kind of feedback. */
const usedFeedback = (type: string, subtype: string | undefined) =>
  type === 'goog-remb' || type === 'rrtr' || (type === 'nack' && (!subtype || subtype === 'pli'))

/**
 * Reduces a publisher's offer to one codec for each kind, without header extensions, repair streams and
 * candidates: the answer to it then accepts only what is forwarded. The lines stay, because an answer must have the same ones.
 */
export function restrictOffer(sdp: string, codecs: Readonly<Record<Kind, OfferedCodec | undefined>>): string {
  const session = parse(sdp)
  session.media = session.media.map((line) => {
    const codec = line.port === 0 ? undefined : codecs[line.type as Kind]
    const { candidates, endOfCandidates, ext, ssrcGroups, rids, simulcast, ...rest } = line
    if (!codec) return { ...rest, port: 0, direction: 'inactive' }
    const { payloadType } = codec
    const isKept = ({ payload }: { payload: number | string }) => Number(payload) === payloadType
    return {
      ...rest,
      // The platform sends no video to a publisher; its sound may be that of the operator's microphone.
      ...(line.type === 'video' && { direction: 'sendonly' as const }),
      payloads: String(payloadType),
      rtp: line.rtp.filter(isKept),
      fmtp: line.fmtp.filter(isKept),
      rtcpFb: (line.rtcpFb ?? [])
        .filter((feedback) => feedback.payload === '*' || isKept(feedback))
        .filter(({ type, subtype }) => usedFeedback(type, subtype))
        .map((feedback) => ({ ...feedback, payload: payloadType })),
      ...(line.ssrcs && { ssrcs: firstSource(line) }),
    }
  })
  return write(session)
}

/** Returns the lines of the first source of a media line: the others are repair streams. */
function firstSource({ ssrcs = [] }: MediaDescription): NonNullable<MediaDescription['ssrcs']> {
  return ssrcs.filter(({ id }) => id === ssrcs[0]?.id)
}
