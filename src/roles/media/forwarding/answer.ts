import { parse, write } from 'sdp-transform'
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
