import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type FoxgloveFixture, openFoxgloveFixture } from '../../support/foxglove/foxglove-fixture.ts'
import { atMs, writeRecording } from '../../support/foxglove/recorded-session.ts'
import { openSessionFixture, performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let foxglove: FoxgloveFixture
beforeAll(async () => {
  world = await createWorld()
  foxglove = await openFoxgloveFixture(world)
})
afterAll(async () => {
  await foxglove?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** Stores a recording of 20 seconds of telemetry, with messages of this size. */
async function addTelemetry(sessionId: string, bytes: number) {
  const data = Buffer.alloc(bytes, 32)
  const messages = Array.from({ length: 200 }, (_, index) => ({
    topic: '/telemetry',
    logTimeNs: atMs(index * 100),
    publishTimeNs: atMs(index * 100),
    data,
  }))
  await foxglove.addRecording(sessionId, await writeRecording(messages))
}
const noConnections = () => waitFor(() => expect(foxglove.server.connections).toBe(0))

test('a client that resets its connection while its recording is opened leaves nothing', async () => {
  const other = await openSessionFixture(world)
  await addTelemetry(other.id, 100)
  foxglove.store.beforeRead = () => delay(200)
  for (let count = 0; count < 20; count++) {
    const socket = connect(foxglove.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    const { pathname } = new URL(foxglove.addressOf(other.id))
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n` +
        `Authorization: Bearer ${other.client.token}\r\n\r\n`,
    )
    await delay(count)
    socket.resetAndDestroy()
  }
  await delay(2_000)
  foxglove.store.beforeRead = async () => {}
  await noConnections()
})

test('a client that requests playback but reads nothing loses its connection', async () => {
  const other = await openSessionFixture(world)
  await addTelemetry(other.id, 200_000)
  const client = await foxglove.connect(other.id, other.client).ready()
  await client.subscribe('/telemetry')
  client.control({ command: 'play', speed: 100, seekTo: atMs(0), id: 'play' })
  await client.answer('play')
  client.socket.pause()
  const timer = setInterval(
    () => client.control({ command: 'play', speed: 100, seekTo: atMs(0), id: 'x'.repeat(200) }),
    100,
  )
  try {
    await noConnections()
  } finally {
    clearInterval(timer)
    client.socket.terminate()
  }
})

test('a client that joins a session at its end is closed as well', async () => {
  const other = await openSessionFixture(world)
  const first = await foxglove.connect(other.id, other.client).ready()
  const { event_seq: logHead } = (await other.client.get(`/api/sessions/${other.id}`)).body
  first.socket.pause() // so that it does not answer the closing handshake
  await performAction(other.client, other.id, 'end')
  await delay(500)
  foxglove.opened.set(other.id, { sessionStatus: 'ACTIVE', logHead })
  const late = await foxglove.connect(other.id, other.client).ready()
  expect(await late.closed).toMatchObject({ code: 4410 })
  first.socket.resume()
  await noConnections()
})

test('a flood of subscriptions ends its connection; a text that is too large is refused before it is parsed', async () => {
  const other = await openSessionFixture(world)
  const client = await foxglove.connect(other.id, other.client).ready()
  const subscriptions = (count: number) =>
    JSON.stringify({
      op: 'subscribe',
      subscriptions: Array.from({ length: count }, (_, id) => ({ id: 1_000 + id, channelId: 1 })),
    })
  const parse = vi.spyOn(JSON, 'parse')
  client.socket.send(subscriptions(1_500)) // 45 kB
  const status = once(client.socket, 'message')
  expect(JSON.parse(String((await status)[0]))).toMatchObject({
    op: 'status',
    message: expect.stringContaining('16384 bytes'),
  })
  expect(parse.mock.calls.filter(([text]) => text.length > 20_000)).toEqual([])
  for (let count = 0; count < 100; count++) client.socket.send(subscriptions(300))
  expect(await client.closed).toMatchObject({ code: 4029 })
  await noConnections()
})
