import { expect, test } from 'vitest'
import { iceServersOf } from '../../../packages/sdk/camera/ice-links.ts'
import { iceServerLink, iceServersFor } from './ice-servers.ts'

const now = new Date('2026-11-23T12:00:00Z')
const turn = { urls: ['turn:turn.example.com:3478?transport=udp'], secret: 'north' }

test('credentials are the expiry and the client, and their HMAC, as coturn computes it', () => {
  // printf '1795456800:robot-1' | openssl dgst -sha1 -hmac north -binary | base64
  expect(iceServersFor(turn, 'robot-1', now)).toEqual([
    { urls: turn.urls[0], username: '1795456800:robot-1', credential: 'q+HJp9NeLeLCHvHmgatKCMowtRA=' },
  ])
})

test('without TURN servers there are none', () => {
  expect(iceServersFor(undefined, 'robot-1', now)).toEqual([])
})

test('the SDK reads the links that the platform sends', () => {
  const header = iceServersFor(turn, 'robot-1', now).map(iceServerLink).join(', ')
  const [server] = iceServersOf(header)
  expect(server).toMatchObject({ hostname: 'turn.example.com', port: 3478, username: '1795456800:robot-1' })
})
