import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Connects a robot without a WebSocket library, so that it can stop reading. */
async function rawRobot(robot: { id: string; token: string }, { gatewayUrl }: World) {
  const { hostname, port } = new URL(gatewayUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const key = randomBytes(16).toString('base64')
  socket.write(
    [
      `GET /robots/${robot.id}/control HTTP/1.1`,
      `Host: ${hostname}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${key}`,
      `Authorization: Bearer ${robot.token}`,
      '\r\n',
    ].join('\r\n'),
  )
  let tail = ''
  socket.on('data', (chunk) => {
    tail = (tail + chunk.toString('latin1')).slice(-1_000)
  })
  await waitFor(() => expect(tail).toContain('"welcome"'))
  return { socket, tail: () => tail }
}

const TEXT = 0x81
const PING = 0x89
/** Returns a frame of a client: masked, with a mask of zeroes. */
function clientFrame(opcode: number, payload: string): Buffer {
  return Buffer.concat([Buffer.from([opcode, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)])
}
const beat = clientFrame(TEXT, '{"type":"heartbeat"}')
/** A thousand pings. The answer to each has its length, which makes the gateway send many bytes fast. */
const pings = Buffer.concat(Array.from({ length: 1_000 }, () => clientFrame(PING, 'x'.repeat(125))))

/** Makes the gateway send this many bytes. Returns early if the connection closes. */
async function provoke(socket: Socket, bytes: number): Promise<void> {
  const closed = once(socket, 'close')
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += pings.length) {
    socket.write(pings)
    if (!socket.write(beat)) await Promise.race([once(socket, 'drain'), closed])
  }
}

test('robots that do not read cost the gateway no memory, and are closed after ten seconds unless they read again', async () => {
  const floodBytes = 80_000_000 // far more than the kernel buffers
  const clock = stopWallClock()
  await using slow = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '60000' } })
  const closeBlocked = () => slow.platform.core.guards.gateway.runRound('timer:blocked')
  const owner = await slow.client()
  const robots = { blocked: await slow.robot(owner), recovered: await slow.robot(owner) }
  const links = {
    blocked: await rawRobot(robots.blocked, slow),
    recovered: await rawRobot(robots.recovered, slow),
  }
  const statusOf = async (robot: { id: string }) =>
    (await owner.get(`/api/client/robots/${robot.id}`)).body.status

  const memoryBefore = process.memoryUsage.rss()
  for (const { socket } of Object.values(links)) {
    socket.pause()
    await provoke(socket, floodBytes)
  }
  expect(process.memoryUsage.rss() - memoryBefore).toBeLessThan(floodBytes / 2)

  links.recovered.socket.resume()
  // The gateway answers again once the robot has read everything.
  await waitFor(() => {
    links.recovered.socket.write(clientFrame(TEXT, '{"type":"heartbeat","seq":4321}'))
    expect(links.recovered.tail()).toContain('4321')
  })
  clock.advance(10_000)
  closeBlocked()
  expect(await statusOf(robots.blocked)).toBe('AVAILABLE')
  clock.advance(1)
  closeBlocked()
  await waitFor(async () => expect(await statusOf(robots.blocked)).toBe('OFFLINE'))
  expect(await statusOf(robots.recovered)).toBe('AVAILABLE')

  // The buffers are full, so there is no room for a close frame: the connection just ends.
  const ended = once(links.blocked.socket, 'close')
  links.blocked.socket.resume()
  await ended
  links.recovered.socket.destroy()
  await waitFor(async () => expect(await statusOf(robots.recovered)).toBe('OFFLINE'))
})
