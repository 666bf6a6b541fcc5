import { describe, expect, test } from 'vitest'
import { Subscriptions } from './client-connection.ts'
import { readClientMessage } from './client-messages.ts'
import { playbackStateMessage, serverInfo } from './wire.ts'

const START_NS = 1_790_000_000_000_000_001n

describe('messages of foxglove.sdk.v1 have the bytes of the SDK', () => {
  // The bytes after the opcode are those of the snapshots in the repository of the SDK (rust/foxglove/src/protocol/common).
  test('the state of the playback', () => {
    const state = { status: 'playing', speed: 1, didSeek: true, timeNs: 12_345n, requestId: '' } as const
    expect(playbackStateMessage(state).toString('hex')).toBe(
      '05003930000000000000' + '0000803f' + '01' + '00000000',
    )
    const answer = playbackStateMessage({
      ...state,
      status: 'ended',
      didSeek: false,
      requestId: 'i-am-a-request',
    })
    expect(answer.subarray(0, 2).toString('hex')).toBe('0503')
    expect(answer.subarray(14).toString('latin1')).toBe('\x00\x0e\x00\x00\x00i-am-a-request')
  })

  test('a request of playback control', () => {
    const hex = '03' + '00' + '0000803f' + '01' + '15cd5b0700000000' + '07000000' + '736f6d652d6964'
    expect(readClientMessage(Buffer.from(hex, 'hex'), true)).toEqual({
      op: 'playback',
      request: { command: 'play', speed: 1, seekToNs: 123_456_789n, requestId: 'some-id' },
    })
  })

  test.each([
    ['a cut id', '0300000080bf0115cd5b07000000000700000073'],
    ['an unknown command', '0302000080bf0115cd5b070000000000000000'],
    ['a long id', `0300000080bf0115cd5b070000000001010000${'61'.repeat(257)}`],
    ['no body', '03'],
  ])('a request with %s is refused', (_name, hex) => {
    expect(readClientMessage(Buffer.from(hex, 'hex'), true)).toMatchObject({ op: 'refused' })
  })

  test('the period of a recording is in seconds and nanoseconds', () => {
    const range = { startNs: START_NS, endNs: START_NS + 2_000_000_000n }
    expect(JSON.parse(serverInfo({ name: 'x', sessionId: 'y', range }))).toMatchObject({
      op: 'serverInfo',
      capabilities: ['time', 'playbackControl'],
      dataStartTime: { sec: 1_790_000_000, nsec: 1 },
      dataEndTime: { sec: 1_790_000_002, nsec: 1 },
    })
  })
})

test('a connection has at most 256 subscriptions, one for each channel', () => {
  const subscriptions = new Subscriptions()
  for (let id = 0; id < 300; id++) subscriptions.addChannel(id)
  const problems = Array.from({ length: 300 }, (_, id) => subscriptions.add(id + 1_000, id))
  expect(problems.filter((problem) => problem === undefined)).toHaveLength(256)
  expect(problems[256]).toContain('256')
  expect(subscriptions.remove(1_003)).toBe(3)
  expect(subscriptions.add(1_004, 3)).toContain('exists')
  expect(subscriptions.add(5_000, 4)).toContain('already')
  expect(subscriptions.add(5_000, 3)).toBeUndefined()
  subscriptions.removeChannel(3)
  expect(subscriptions.idOf(3)).toBeUndefined()
  expect(subscriptions.remove(5_000)).toBeUndefined()
})
