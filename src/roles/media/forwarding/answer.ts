import { parse, write } from 'sdp-transform'
import { IPV4_CANDIDATE } from '../../../core/webrtc/session-description.ts'
import { extensionUris, type OfferedMedia } from './offer.ts'

// Changes to answers of the library, for what this process does itself.

/** Removes the group of media lines from an answer to an offer without one (RFC 9143, section 7.3). */
export const withOfferedGroup = (answer: string, offer: string): string =>
  /^a=group:BUNDLE/m.test(offer) ? answer : answer.replace(/^a=group:.*\r?\n/gm, '')

/** Adds the feedback with which a viewer measures the round trip, if it offers that (RFC 3611, section 5). */
export function withRoundTripFeedback(answer: string, offer: string): string {
  if (!/^a=rtcp-fb:\S+ rrtr\r?$/m.test(offer)) return answer
  const session = parse(answer)
  for (const line of session.media) {
    const payload = line.rtp[0]?.payload
    if (payload !== undefined) line.rtcpFb = [...(line.rtcpFb ?? []), { payload, type: 'rrtr' }]
  }
  return write(session)
}

/** Adds, for each IPv4 address among the candidates, the port of the relay door, after and below all others. */
export function withRelayCandidates(answer: string, port: number): string {
  const lines = answer.split('\r\n')
  const candidates = lines.filter((line) => line.startsWith('a=candidate:'))
  const lowest = Math.min(...candidates.map((line) => Number(line.split(' ')[3])))
  const addresses = new Set(candidates.flatMap((line) => IPV4_CANDIDATE.exec(line)?.[1] ?? []))
  const added = [...addresses].map((address, index) => {
    // A foundation of its own: clients check the candidates of one foundation one after the other.
    return `a=candidate:relayed${index} 1 UDP ${lowest - 1 - index} ${address} ${port} typ host`
  })
  const last = lines.findLastIndex((line) => line.startsWith('a=candidate:'))
  return lines.toSpliced(last + 1, 0, ...added).join('\r\n')
}

/** Accepts the layers and the header extensions of a publisher's video. */
export function withLayersAndExtensions(answer: string, { mid, layers, extensions }: OfferedMedia): string {
  const { captureTime, layer } = extensions
  const accepted = [
    ...(captureTime === undefined ? [] : [{ value: captureTime, uri: extensionUris.captureTime }]),
    ...(layer === undefined || layers.length === 0 ? [] : [{ value: layer, uri: extensionUris.layer }]),
  ]
  if (accepted.length === 0) return answer
  const session = parse(answer)
  const line = session.media.find((media) => String(media.mid) === mid)
  if (!line) return answer
  line.ext = accepted
  if (layer !== undefined && layers.length > 0) {
    line.rids = layers.map((id) => ({ id, direction: 'recv' }))
    line.simulcast = { dir1: 'recv', list1: layers.join(';') }
  }
  return write(session)
}
