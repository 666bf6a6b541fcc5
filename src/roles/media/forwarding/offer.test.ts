import { describe, expect, test } from 'vitest'
import { withLayersAndExtensions, withOfferedGroup, withRoundTripFeedback } from './answer.ts'
import {
  findCodec,
  hasParameterSets,
  OfferError,
  type OfferedMedia,
  parametersFor,
  readOffer,
  restrictOffer,
} from './offer.ts'

const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0 1']
const transport = [
  'a=ice-ufrag:abcd',
  'a=ice-pwd:abcdefghijklmnopqrstuvwx',
  'a=fingerprint:sha-256 AA:BB',
  'a=setup:actpass',
]
const video = [
  'm=video 9 UDP/TLS/RTP/SAVPF 97 102 45 96 98',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  ...transport,
  'a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid',
  'a=sendonly',
  'a=candidate:1 1 UDP 2122317823 10.0.0.7 9 typ host',
  'a=rtpmap:97 rtx/90000',
  'a=fmtp:97 apt=96',
  'a=rtpmap:102 H264/90000',
  'a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42001f',
  'a=rtpmap:45 AV1/90000',
  'a=rtpmap:96 VP8/90000',
  'a=rtcp-fb:96 goog-remb',
  'a=rtcp-fb:96 transport-cc',
  'a=rtcp-fb:96 ccm fir',
  'a=rtcp-fb:96 nack',
  'a=rtcp-fb:96 nack pli',
  'a=rtpmap:98 H264/90000',
  'a=fmtp:98 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  'a=ssrc-group:FID 11 12',
  'a=ssrc:11 cname:x',
  'a=ssrc:12 cname:x',
]
const audio = [
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 0',
  'c=IN IP4 0.0.0.0',
  'a=mid:1',
  ...transport,
  'a=rtpmap:111 opus/48000/2',
  'a=rtpmap:0 PCMU/8000',
]
const sdp = (...lines: string[][]) => [...head, ...lines.flat(), ''].join('\r\n')

describe('an offer', () => {
  test('is read with the codecs that are forwarded, in its order', () => {
    const offer = readOffer(sdp(video, audio))
    expect(offer.video).toMatchObject({ mid: '0', sends: true, receives: false })
    expect(offer.video?.codecs.map(({ codec, payloadType }) => [codec, payloadType])).toEqual([
      ['VP8', 96],
      ['H264', 98],
    ])
    expect(offer.audio).toMatchObject({ sends: true, receives: true })
    expect(offer.audio?.codecs.map(({ payloadType }) => payloadType)).toEqual([111])
  })

  test.each([
    ['two videos', sdp(video, video), 'Offer one'],
    [
      'a data channel',
      sdp(video, ['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'a=mid:2', ...transport]),
      'SAVPF',
    ],
    ['no media', sdp(), 'not a session description'],
    ['rejected media only', sdp(audio.map((line) => line.replace('audio 9', 'audio 0'))), 'neither'],
    ['no fingerprint', sdp(video.filter((line) => !line.includes('fingerprint'))), 'fingerprint'],
    ['no mid', sdp(video.filter((line) => !line.includes('mid:'))), 'mid'],
    ['two transports', sdp(video, audio).replace('a=group:BUNDLE 0 1\r\n', ''), 'BUNDLE'],
    ['another text', 'hello', 'not a session description'],
    ['nothing', '', 'not a session description'],
    ['JSON', '{"sdp":"v=0"}', 'not a session description'],
    ['binary garbage', '\u0000\u0001\u0002v=0', 'not a session description'],
    ['plain RTP', sdp(video.map((line) => line.replace('UDP/TLS/RTP/SAVPF', 'RTP/AVP'))), 'RTP/AVP'],
    ['too many media lines', sdp(video, video, video, video, video), '5 media lines'],
    ['thousands of lines', sdp(video) + 'a=\r\n'.repeat(5_000), 'more than 1000 lines'],
  ])('with %s is rejected with a reason', (_what, text, reason) => {
    expect(() => readOffer(text)).toThrow(OfferError)
    expect(() => readOffer(text)).toThrow(reason)
  })
})

test('a restricted offer keeps its lines, one codec each, and the feedback that is used', () => {
  const offer = readOffer(sdp(video, audio))
  const restricted = restrictOffer(sdp(video, audio), { video: offer.video?.codecs[0], audio: undefined })
  expect(restricted).toContain('m=video 9 UDP/TLS/RTP/SAVPF 96\r\n')
  expect(restricted).toContain('m=audio 0 ')
  expect(restricted.match(/a=rtcp-fb:.*/g)).toEqual([
    'a=rtcp-fb:96 goog-remb',
    'a=rtcp-fb:96 nack',
    'a=rtcp-fb:96 nack pli',
  ])
  for (const gone of ['extmap', 'candidate', 'rtx', 'ssrc-group', 'ssrc:12', 'H264', 'AV1'])
    expect(restricted).not.toContain(gone)
})

test('a viewer gets the profile of the camera if it offers it, else another of the codec', () => {
  const offer = readOffer(sdp(video))
  const source = (parameters: string) => ({ codec: 'H264' as const, payloadType: 1, parameters })
  const media = offer.video as NonNullable<typeof offer.video>
  expect(findCodec(media, source('profile-level-id=42e034'))?.payloadType).toBe(98)
  expect(findCodec(media, source('profile-level-id=640c1f'))?.payloadType).toBe(98)
  expect(findCodec({ ...media, codecs: [] }, source(''))).toBeUndefined()
})

test('a viewer gets the parameter sets that the offer of the camera has', () => {
  const codec = (parameters: string) => ({ codec: 'H264' as const, payloadType: 1, parameters })
  const sets = 'sprop-parameter-sets=Z0IAH5WoFAFuQA==,aM48gA=='
  expect(hasParameterSets(codec(`packetization-mode=1; ${sets}`))).toBe(true)
  expect(hasParameterSets(codec('packetization-mode=1'))).toBe(false)
  expect(parametersFor(codec('a=1'), codec(`packetization-mode=1; ${sets}`))).toBe(`a=1;${sets}`)
  expect(parametersFor(codec('a=1'), codec('b=2'))).toBe('a=1')
})

test('video in both directions is restricted to that of the publisher', () => {
  const both = sdp(video.map((line) => (line === 'a=sendonly' ? 'a=sendrecv' : line)))
  const codec = readOffer(both).video?.codecs[0]
  expect(restrictOffer(both, { video: codec, audio: undefined })).toContain('a=sendonly')
  expect(restrictOffer(both, { video: codec, audio: undefined })).not.toContain('a=sendrecv')
})

test('an answer has no group that was not offered', () => {
  const answer = ['v=0', 'a=group:BUNDLE 0', 'm=video 9 UDP/TLS/RTP/SAVPF 96', ''].join('\r\n')
  expect(withOfferedGroup(answer, answer)).toBe(answer)
  expect(withOfferedGroup(answer, 'v=0\r\n')).toBe(answer.replace('a=group:BUNDLE 0\r\n', ''))
})

test('the feedback for the round trip is answered only to viewers that offer it', () => {
  const answer = sdp(video)
  expect(withRoundTripFeedback(answer, sdp(video))).toBe(answer)
  const offer = sdp([...video, 'a=rtcp-fb:96 rrtr'])
  expect(withRoundTripFeedback(answer, offer)).toContain(' rrtr')
})

describe('layers and header extensions', () => {
  const layered = [
    ...video.filter((line) => !line.startsWith('a=ssrc')),
    'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
    'a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time',
    'a=rid:0 send',
    'a=rid:1 send',
    'a=simulcast:send 0;1',
  ]

  test('are read from an offer', () => {
    expect(readOffer(sdp(layered)).video).toMatchObject({
      layers: ['0', '1'],
      extensions: { layer: 4, captureTime: 5 },
    })
    expect(readOffer(sdp(video)).video).toMatchObject({
      layers: [],
      extensions: { layer: undefined, captureTime: undefined },
    })
  })

  test('are accepted in the answer, and not in the offer that the library reads', () => {
    const offered = readOffer(sdp(layered)).video as OfferedMedia
    const restricted = restrictOffer(sdp(layered), { video: offered.codecs[0], audio: undefined })
    for (const gone of ['a=rid', 'a=simulcast', 'a=extmap']) expect(restricted).not.toContain(gone)
    const answer = withLayersAndExtensions(sdp(video), offered)
    expect(answer.match(/^a=(rid|simulcast|extmap).*/gm)).toEqual([
      'a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time',
      'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
      'a=rid:0 recv',
      'a=rid:1 recv',
      'a=simulcast:recv 0;1',
    ])
    const plain = readOffer(sdp(video)).video as OfferedMedia
    expect(withLayersAndExtensions(sdp(video), plain)).toBe(sdp(video))
  })
})
