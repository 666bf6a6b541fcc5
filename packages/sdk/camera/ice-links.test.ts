import { expect, test } from 'vitest'
import { iceServersOf } from './ice-links.ts'

test('TURN servers are read from the Link headers, others are ignored', () => {
  const header = [
    '<turn:turn.example.com:3478?transport=udp>; rel="ice-server"; username="1:a"; credential="x=="; credential-type="password"',
    '<turns:turn.example.com?transport=tcp>; rel="ice-server"; username="1:a"; credential="y/"',
    '<https://example.com>; rel="help"',
    '<turn:other.example.com>; rel="ice-server"',
  ].join(', ')
  expect(iceServersOf(header)).toEqual([
    { hostname: 'turn.example.com', port: 3478, username: '1:a', password: 'x==', relayType: 'TurnUdp' },
    { hostname: 'turn.example.com', port: 5349, username: '1:a', password: 'y/', relayType: 'TurnTls' },
  ])
  expect(iceServersOf(null)).toEqual([])
})
