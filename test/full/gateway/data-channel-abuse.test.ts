import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  closeTestChannels,
  createOffer,
  hasReadChannel,
  openChannel,
} from '../../support/gateway/test-channel.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeEach(async () => {
  world = await createWorld({ env: { GATEWAY_UDP_PORT: '' } })
})
afterEach(async () => {
  closeTestChannels()
  await world[Symbol.asyncDispose]()
})

const control = (seq: number) => ({
  type: 'control',
  seq,
  t: performance.now(),
  ttl_ms: 60_000,
  data: { seq },
})

test('every offer is answered or refused, whatever it contains, and the gateway continues', async () => {
  const { operator, id, link } = await openSessionFixture(world)
  const driver = await world.drive(operator, id)
  await driver.next('channel_available')
  const valid = (await createOffer()).sdp
  const lines = valid.split('\r\n')
  const damaged = fc.oneof(
    fc.string({ maxLength: 300, minLength: 1 }),
    fc.nat({ max: lines.length - 1 }).map((index) => lines.toSpliced(index, 1).join('\r\n')),
    fc
      .tuple(fc.nat({ max: lines.length - 1 }), fc.string({ maxLength: 30 }))
      .map(([index, text]) => lines.with(index, `${lines[index]?.slice(0, 6)}${text}`).join('\r\n')),
    fc.constant(`${valid}a=candidate:1 1 UDP 1 999.1.1.1 70000 typ host\r\n`.repeat(20)),
  )
  const offers = fc.sample(damaged, { numRuns: 40, seed: 7 })
  for (const sdp of offers) {
    // The limit of offers is per connection: an operator of the same session reconnects.
    const other = await world.drive(operator, id)
    await other.next('channel_available')
    other.send({ type: 'channel_offer', sdp })
    await Promise.race([other.next('channel_answer'), other.next('channel_refused'), other.next('error')])
  }
  const last = await world.drive(operator, id)
  await last.next('channel_available')
  const channel = await openChannel(last)
  channel.channel.send(JSON.stringify(control(1)))
  expect((await link.next('control')).seq).toBe(1)
})

test('offers have limits: one a second, and a size', async () => {
  const robot = await world.connect(await world.robot(await world.client()))
  await robot.next('channel_available')
  const { sdp } = await createOffer()
  stopWallClock()
  for (let count = 0; count < 3; count++) robot.send({ type: 'channel_offer', sdp })
  for (let count = 0; count < 2; count++)
    expect((await robot.next('channel_refused')).retry_after_ms).toBeGreaterThan(0)
  await robot.next('channel_answer')
  robot.send({ type: 'channel_offer', sdp: 'x'.repeat(20_000) })
  expect((await robot.next('error')).message).toContain('sdp')
})

test('an observer has no data channel', async () => {
  const { client, id } = await openSessionFixture(world)
  const observer = await world.drive(client, id, 'watch')
  await observer.next('state')
  observer.send({ type: 'channel_offer', sdp: (await createOffer()).sdp })
  expect((await observer.next('error')).message).toContain('Observers')
  expect(observer.frames.filter(({ type }) => type.startsWith('channel'))).toEqual([])
})

describe('messages of a channel', () => {
  test('that are malformed are answered with an error, and the fifth in a row closes the connection', async () => {
    const { operator, id } = await openSessionFixture(world)
    const driver = await world.drive(operator, id)
    const { channel } = await openChannel(driver)
    for (const message of ['', '{', '[]', '{"type":7}', '{"type":"control"}', 'x'.repeat(10_000)])
      if (channel.readyState === 'open') channel.send(message)
    expect(await driver.closed).toBe(4002)
    await waitFor(() => expect(channel.readyState).toBe('closed'))
  })

  test('that belong to the WebSocket are ignored', async () => {
    const { operator, id, link, read } = await openSessionFixture(world)
    const robotChannel = await openChannel(link)
    for (const frame of [
      { type: 'heartbeat', battery: 0.123 },
      { type: 'telemetry', data: 1 },
      { type: 'channel_offer', sdp: 'v=0' },
      { type: 'stopped', reason: 'x' },
      control(1),
    ])
      robotChannel.channel.send(JSON.stringify(frame))
    await hasReadChannel(robotChannel, 1)
    const driver = await world.drive(operator, id)
    await driver.next('state')
    expect(driver.frames.filter(({ type }) => ['telemetry', 'battery'].includes(type))).toEqual([])
    expect((await read()).status).toBe('ACTIVE')
  })

  test('count for the limit of frames', async () => {
    const { operator, id } = await openSessionFixture(world)
    const driver = await world.drive(operator, id)
    const { channel } = await openChannel(driver)
    stopWallClock() // however long they take, they arrive in one second
    // An unreliable channel drops what the network does not take at once.
    const timer = setInterval(() => {
      try {
        for (let count = 0; count < 200; count++) channel.send('{"type":"ack"}')
      } catch {
        clearInterval(timer) // closed; `readyState` changes only later
      }
    }, 20)
    expect(await driver.closed).toBe(4029)
    clearInterval(timer)
  })
})

test('a channel ends at once with the permission to drive', async () => {
  const { operator, id, link, performAction, client } = await openSessionFixture(world)
  const driver = await world.drive(operator, id)
  const opened = await openChannel(driver)
  opened.channel.send(JSON.stringify(control(1)))
  await link.next('control')
  expect((await performAction(client, 'end')).status).toBe(200)
  await driver.closed
  await waitFor(() => expect(opened.channel.readyState).toBe('closed'))
  expect(() => opened.channel.send(JSON.stringify(control(2)))).toThrow()
  await waitFor(() => expect(opened.channel.readyState).toBe('closed'))
  expect(link.frames.filter(({ type }) => type === 'control')).toEqual([])
})

test('a newer operator connection ends the channel of the older one', async () => {
  const { operator, id, link } = await openSessionFixture(world)
  const first = await openChannel(await world.drive(operator, id))
  const second = await openChannel(await world.drive(operator, id))
  await waitFor(() => expect(first.channel.readyState).toBe('closed'))
  second.channel.send(JSON.stringify(control(1)))
  expect((await link.next('control')).data).toEqual({ seq: 1 })
})

test('a gateway without data channels announces none and refuses offers', async () => {
  await using other = await createWorld()
  const robot = await other.connect(await other.robot(await other.client()))
  robot.send({ type: 'channel_offer', sdp: (await createOffer()).sdp })
  const refused = await robot.next('channel_refused')
  expect(refused).not.toHaveProperty('retry_after_ms')
  expect(robot.frames.filter(({ type }) => type === 'channel_available')).toEqual([])
})

test('a gateway whose UDP port is in use refuses offers, and continues', async () => {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  await using other = await createWorld({ env: { GATEWAY_UDP_PORT: String(socket.address().port) } })
  const robot = await other.connect(await other.robot(await other.client()))
  robot.send({ type: 'channel_offer', sdp: (await createOffer()).sdp })
  expect((await robot.next('channel_refused')).retry_after_ms).toBeGreaterThan(0)
  robot.send({ type: 'heartbeat', seq: 5 })
  expect((await robot.next('heartbeat_ack')).seq).toBe(5)
  socket.close()
})
