import { expect, test } from 'vitest'
import { answerWithCandidates, withoutCandidates } from './session-description.ts'

const description = [
  'v=0',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'a=mid:0',
  'a=candidate:1 1 UDP 2114977791 10.0.0.7 3002 typ host',
  'a=candidate:2 1 UDP 1678769919 10.0.0.8 3002 typ host',
  'a=end-of-candidates',
  '',
]

test.each(['\r\n', '\n'])(
  'an offer loses its candidates and nothing else, with lines that end with %j',
  (end) => {
    expect(withoutCandidates(description.join(end)).split('\r\n')).toEqual(
      description.filter((line) => !line.includes('candidate:')),
    )
  },
)

test('a candidate cannot hide behind a lone carriage return', () => {
  const hidden = 'v=0\r\na=cand\ridate:1 1 UDP 2130706431 203.0.113.9 53 typ host\r\n'
  expect(withoutCandidates(hidden)).not.toMatch(/\r(?!\n)/)
})

test('an answer keeps its candidates without a public address', () => {
  const sdp = description.join('\r\n')
  expect(answerWithCandidates(sdp, { publicAddress: undefined, port: 3002 })).toBe(sdp)
})

test.each([true, false])(
  'an answer has the public address as its only candidate, before the end of the list: %s',
  (listEnds) => {
    const lines = description.filter((line) => listEnds || line !== 'a=end-of-candidates')
    const answer = answerWithCandidates(lines.join('\r\n'), { publicAddress: '203.0.113.5', port: 3002 })
    expect(answer.split('\r\n')).toEqual([
      'v=0',
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      'a=mid:0',
      'a=candidate:1 1 UDP 2130706431 203.0.113.5 3002 typ host',
      ...(listEnds ? ['a=end-of-candidates'] : []),
      '',
    ])
  },
)

test('the first candidate of an answer is one of IPv4', () => {
  const ipv6 = 'a=candidate:1 1 UDP 2122317823 fe80::1 3002 typ host'
  const lines = [...description.slice(0, 3), ipv6, ...description.slice(3)]
  const answer = answerWithCandidates(lines.join('\r\n'), { publicAddress: undefined, port: 3002 })
  expect(answer.split('\r\n')).toEqual([...description.slice(0, 5), ipv6, ...description.slice(5)])
})
