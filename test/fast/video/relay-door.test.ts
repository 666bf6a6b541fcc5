import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { createGuard } from '../../../src/core/process/guard.ts'
import { openUdpSocket, RelayDoor } from '../../../src/roles/media/forwarding/relay-door.ts'
import { bindingRequest } from '../../support/network/binding-request.ts'
import type { TestViewer } from '../../support/video/test-viewer.ts'
import { openVideoFixture, withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const LOCAL = '127.0.0.1'
const PASSWORD = 'aPasswordOf24Characters0'
const sdpOf = (ufrag: string, password = PASSWORD) =>
  `v=0\r\na=ice-ufrag:${ufrag}\r\na=ice-pwd:${password}\r\n`

const sockets: Socket[] = []
const doors: RelayDoor[] = []
afterEach(() => {
  for (const open of [...doors.splice(0), ...sockets.splice(0)]) open.close()
})

/** Opens a socket that keeps what arrives. */
async function openSocket(port = 0) {
  const socket = createSocket('udp4').bind(port, LOCAL)
  await once(socket, 'listening')
  sockets.push(socket)
  const received: { text: string; port: number }[] = []
  socket.on('message', (packet, { port }) => received.push({ text: packet.toString('hex'), port }))
  return {
    received,
    texts: () => received.map(({ text }) => text),
    port: socket.address().port,
    send: (packet: Buffer, port: number) => socket.send(packet, port, LOCAL),
  }
}

/** Opens a door before a port that keeps what arrives. */
async function openDoor() {
  const errors: unknown[] = []
  const log = { warn: () => {}, error: (fields: unknown) => errors.push(fields) }
  const guard = createGuard({ role: 'test', log: log as never, count: () => {} })
  const media = await openSocket()
  const door = new RelayDoor(
    await openUdpSocket({ bindAddress: LOCAL, port: 0 }),
    { port: media.port, address: LOCAL },
    guard,
  )
  doors.push(door)
  return { door, media, errors }
}

const request = (ufrag: string, options: { password?: string; tieBreaker?: bigint } = {}) =>
  bindingRequest({ username: `${ufrag}:them`, password: PASSWORD, ...options })
const hex = (packet: Buffer) => packet.toString('hex')

test('a peer with the tie-breaker 0 is let in: its requests get another one, all other packets pass unchanged both ways', async () => {
  const { door, media, errors } = await openDoor()
  door.admit(sdpOf('abcd'))
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.texts()).toEqual([hex(request('abcd', { tieBreaker: 1n }))]))
  const { port } = media.received[0]!

  const others = [Buffer.from('8001 a packet of RTP'), request('abcd', { tieBreaker: 7n }), Buffer.from([0])]
  for (const packet of others) client.send(packet, door.port)
  await waitFor(() => expect(media.texts().slice(1)).toEqual(others.map(hex)))
  expect(new Set(media.received.map((packet) => packet.port))).toEqual(new Set([port]))

  media.send(Buffer.from('an answer'), port)
  await waitFor(() =>
    expect(client.received).toEqual([{ text: hex(Buffer.from('an answer')), port: door.port }]),
  )
  expect(errors).toEqual([])
})

test('the packets of a large keyframe pass, although all are sent before the door can read one', async () => {
  const { door, media } = await openDoor()
  door.admit(sdpOf('abcd'))
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(1))
  // More than the 92 that fit into the buffer of a socket on Linux, unless it is told otherwise.
  const packets = Array.from({ length: 140 }, (_, number) => Buffer.alloc(1_200, number))
  for (const packet of packets) media.send(packet, media.received[0]!.port)
  const end = Buffer.from('the end')
  await waitFor(() => {
    media.send(end, media.received[0]!.port)
    expect(client.texts()).toContain(hex(end))
  })
  expect(client.texts().filter((text) => text !== hex(end))).toEqual(packets.map(hex))
})

test('nothing else is let in, and nothing is answered', async () => {
  const { door, media, errors } = await openDoor()
  door.admit(sdpOf('abcd'))
  const leave = door.admit(sdpOf('gone'))
  leave()
  const stranger = await openSocket()
  for (const packet of [
    request('abcd', { password: 'anotherPasswordOf24Chars' }),
    request('else'),
    request('gone'),
    request('abcd', { tieBreaker: 1n }),
    request('abcd').subarray(0, -4),
    Buffer.from('a packet'),
    Buffer.alloc(0),
  ])
    stranger.send(packet, door.port)
  // The packets of one machine arrive in their order: after this one, all others have been read.
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(1))
  expect(door.paths).toBe(1)
  expect(stranger.received).toEqual([])
  expect(errors).toEqual([])
})

test('at a known address, a request that is not authentic is not signed', async () => {
  const { door, media } = await openDoor()
  door.admit(sdpOf('abcd'))
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(1))
  client.send(request('abcd', { password: 'anotherPasswordOf24Chars' }), door.port)
  client.send(Buffer.from('after it'), door.port)
  await waitFor(() => expect(media.texts().slice(1)).toEqual([hex(Buffer.from('after it'))]))
})

test('an address that a TURN server gives to another peer is that of the other peer', async () => {
  const { door, media } = await openDoor()
  door.admit(sdpOf('abcd'))
  const leaveOther = door.admit(sdpOf('efgh'))
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(1))
  client.send(request('efgh'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(2))
  expect(media.received[1]!.port).not.toBe(media.received[0]!.port)
  expect(door.paths).toBe(1)
  leaveOther()
  expect(door.paths).toBe(0)
})

test('a peer has a limit of paths, and they end with it', async () => {
  const { door, media } = await openDoor()
  const leave = door.admit(sdpOf('abcd'))
  door.admit(sdpOf('efgh'))
  for (let number = 0; number < 12; number++) (await openSocket()).send(request('abcd'), door.port)
  ;(await openSocket()).send(request('efgh'), door.port)
  await waitFor(() => expect(media.texts()).toContain(hex(request('efgh', { tieBreaker: 1n }))))
  await waitFor(() => expect(media.received).toHaveLength(9))
  expect(door.paths).toBe(9)
  leave()
  expect(door.paths).toBe(1)
})

test('a path ends after 30 seconds without a packet of the peer', async () => {
  const { door, media } = await openDoor()
  door.admit(sdpOf('abcd'))
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  await waitFor(() => expect(media.received).toHaveLength(1))
  door.expire(performance.now() + 29_000)
  expect(door.paths).toBe(1)
  door.expire(performance.now() + 31_000)
  expect(door.paths).toBe(0)
})

test('while nobody has the port behind the door, packets are lost without an error, and the next ones pass', async () => {
  const { door, media, errors } = await openDoor()
  door.admit(sdpOf('abcd'))
  sockets.shift()!.close()
  const client = await openSocket()
  client.send(request('abcd'), door.port)
  client.send(Buffer.from('a packet'), door.port)
  const next = await openSocket(media.port)
  await waitFor(() => {
    client.send(request('abcd'), door.port)
    expect(next.received).not.toEqual([])
  })
  expect(errors).toEqual([])
})

test('a port in use is reported', async () => {
  const { door } = await openDoor()
  await expect(openUdpSocket({ bindAddress: LOCAL, port: door.port })).rejects.toThrow('EADDRINUSE')
})

/** A TURN server of Chromium's connections: what it relays to the platform has the tie-breaker 0. */
async function openRelay(target: number, { ufrag, password }: { ufrag: string; password: string }) {
  const [front, back] = [createSocket('udp4').bind(0, LOCAL), createSocket('udp4').bind(0, LOCAL)]
  await Promise.all([once(front, 'listening'), once(back, 'listening')])
  sockets.push(front, back)
  let client = 0
  let requests = 0
  front.on('message', (packet, { port }) => {
    client = port
    const isRequest = packet.readUInt16BE(0) === 0x0001
    if (isRequest) requests++
    const username = /:(\w+)/.exec(packet.toString('latin1'))?.[1]
    const transactionId = packet.subarray(8, 20)
    back.send(
      isRequest ? bindingRequest({ username: `${ufrag}:${username}`, password, transactionId }) : packet,
      target,
      LOCAL,
    )
  })
  back.on('message', (packet) => front.send(packet, client, LOCAL))
  return { port: front.address().port, requests: () => requests }
}

const hasFailed = ({ state }: TestViewer) =>
  state === 'failed' || state === 'closed' || state === 'disconnected'

test.each([
  ['that listens on one address', LOCAL],
  ['that listens on all addresses', '0.0.0.0'],
])('a viewer sees the picture through the door of a platform %s', async (_, HOST) => {
  await using world = await createWorld({
    env: {
      ...withMedia,
      HOST,
      ALLOW_INSECURE_DEV: 'true',
      TURN_URLS: 'turns:turn.example:443?transport=tcp',
      TURN_SECRET: 'a secret for tests only',
    },
  })
  await using fixture = await openVideoFixture(world)
  await fixture.isLive()
  // On a busy machine an attempt may take longer than it may; another one follows, as from every viewer.
  await waitFor(async () => {
    const viewer = fixture.viewer()
    const answer = await viewer.request({
      url: fixture.url,
      token: await fixture.ticketOf(fixture.operator, 'control'),
    })
    const candidates = answer.split('\r\n').filter((line) => line.startsWith('a=candidate:'))
    const priorityOf = (line: string) => Number(line.split(' ')[3])
    const relayed = candidates.filter((line) => line.startsWith('a=candidate:relayed'))
    const direct = candidates.filter((line) => !relayed.includes(line))
    const ipv4 = direct.filter((line) => /^\S+ \S+ \S+ \d+ [\d.]+ /.test(line))
    expect(relayed.map((line) => line.split(' ')[4])).toEqual(ipv4.map((line) => line.split(' ')[4]))
    expect(Math.max(...relayed.map(priorityOf))).toBeLessThan(Math.min(...direct.map(priorityOf)))

    const attributeOf = (name: string) => new RegExp(`^a=${name}:(\\S+)`, 'm').exec(answer)![1]!
    const relay = await openRelay(Number(relayed[0]!.split(' ')[5]), {
      ufrag: attributeOf('ice-ufrag'),
      password: attributeOf('ice-pwd'),
    })
    const only = `a=candidate:1 1 UDP 2113929471 ${LOCAL} ${relay.port} typ host`
    viewer.accept(
      answer
        .split('\r\n')
        .filter((line) => line === relayed[0] || !line.startsWith('a=candidate:'))
        .map((line) => (line === relayed[0] ? only : line))
        .join('\r\n'),
    )
    await waitFor(() => expect(viewer.packets.length > 10 || hasFailed(viewer)).toBe(true))
    expect(viewer.packets.length).toBeGreaterThan(10)
    expect(relay.requests()).toBeGreaterThan(0)
  })
})
