import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { waitFor } from '../../test/support/world/wait.ts'
import { Deliveries } from '../bench/hub/deliveries.ts'
import { type HubAddress, HubSocket } from '../bench/hub/hub-socket.ts'
import { eventOf, isSessionEvent, seqOf } from '../bench/hub/packets.ts'
import { createReturning } from '../bench/hub/reconnect-load.ts'

// Tests of the hub's load generator, whose errors would otherwise be unnoticed.

const SESSION = '0197a7f0-5a4e-7c4b-8f5e-000000000001'
const noListener = { event() {}, closed() {} }

let io: Server
let endpoint: HubAddress

beforeEach(async () => {
  const http = createServer()
  io = new Server(http, { serveClient: false })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  endpoint = { port: (http.address() as AddressInfo).port, speaks: 'Socket.IO' }
})
afterEach(async () => {
  await io.close()
})

/** Creates a follower of a real Socket.IO server, and a function that emits events there. */
async function follow() {
  const deliveries = new Deliveries()
  const follower = deliveries.follow(0)
  const socket = await HubSocket.connect(endpoint, {
    ...noListener,
    event: (data, start, end) => follower.take(seqOf(data, start, end), end - start, performance.now()),
  })
  for (const item of io.sockets.sockets.values()) item.on('done?', (_asked, answer) => answer('done'))
  return {
    deliveries,
    socket,
    /** Emits these numbers and waits until all earlier events have arrived. */
    async emits(...numbers: number[]) {
      for (const seq of numbers) io.emit('session:event', eventOf(SESSION, seq))
      expect(await socket.ask('done?', {})).toBe('done')
    },
  }
}

describe('deliveries', () => {
  test('are complete when every number arrived once, in order', async () => {
    const { deliveries, emits, socket } = await follow()
    await emits(1, 2, 3)
    expect(deliveries.report(3)).toMatchObject({ delivered: 3, lost: 0, strange: 0 })
    const packet = `42${JSON.stringify(['session:event', eventOf(SESSION, 1)])}`
    expect(deliveries.report(3).bytes).toBe(3 * Buffer.byteLength(packet))
    socket.destroy()
  })

  test.each([
    { name: 'a gap', numbers: [1, 2, 4], lost: 1, strange: 0 },
    { name: 'a missing end', numbers: [1, 2, 3], lost: 1, strange: 0 },
    { name: 'a duplicate', numbers: [1, 2, 2, 3, 4], lost: 0, strange: 1 },
    { name: 'a late number', numbers: [1, 3, 2, 4], lost: 1, strange: 1 },
  ])('count $name', async ({ numbers, lost, strange }) => {
    const { deliveries, emits, socket } = await follow()
    await emits(...numbers)
    expect(deliveries.report(4)).toMatchObject({ lost, strange })
    socket.destroy()
  })

  test('are counted from a mark on', async () => {
    const { deliveries, emits, socket } = await follow()
    await emits(1, 1, 3)
    deliveries.mark()
    await emits(4)
    expect(deliveries.report(4)).toMatchObject({ delivered: 1, lost: 0, strange: 0 })
    socket.destroy()
  })
})

test('the number of an event is its own, not that of the message in it', () => {
  const domainEvent = { ...eventOf(SESSION, 7), data: { ...eventOf(SESSION, 7).data, seq: 9_999 } }
  const packet = Buffer.from(`42${JSON.stringify(['session:event', domainEvent])}`)
  expect(isSessionEvent(packet, 0)).toBe(true)
  expect(seqOf(packet, 0, packet.length)).toBe(7)
  const other = Buffer.from('42["notification",{"id":"3"}]')
  expect(isSessionEvent(other, 0)).toBe(false)
  // The rest of the same read is ignored.
  const both = Buffer.concat([other, packet])
  expect(seqOf(both, 0, other.length)).toBeNaN()
})

test('a refusal by the server is reported, not counted as a connection', async () => {
  io.use((socket, next) => next(socket.handshake.auth.token === 'good' ? undefined : new Error('not you')))
  await expect(HubSocket.connect({ ...endpoint, auth: { token: 'bad' } }, noListener)).rejects.toThrow(
    'not you',
  )
  const socket = await HubSocket.connect({ ...endpoint, auth: { token: 'good' } }, noListener)
  socket.destroy()
})

describe('clients that reconnect', () => {
  const HEAD = 7
  /** Answers `session:watch` with these numbers after the requested one, three at a time. */
  function createServerLog(numbers: readonly number[]) {
    io.on('connection', (socket) =>
      socket.on('session:watch', ({ session_id, after }, answer) => {
        const events = numbers.filter((seq) => seq > after).map((seq) => eventOf(session_id, seq))
        answer({ ok: true, events: events.slice(0, 3), head: HEAD })
      }),
    )
  }
  const observer = { token: 'any', sessionId: SESSION }
  const all = Array.from({ length: HEAD }, (_, index) => index + 1)

  test('read the missed log page by page', async () => {
    createServerLog(all)
    const returning = createReturning()
    await returning.connectAll([observer, observer], [endpoint], 1)
    returning.prepare({ addresses: [endpoint], mode: 'at once', behind: 5 })
    io.disconnectSockets(true)
    await waitFor(() => expect(returning.complete()).toBe(2))
    expect(returning.report()).toMatchObject({ attempts: 2, refusals: {}, wrong: 0 })
    returning.leave()
  })

  test('retry until they are accepted, and report the refusals', async () => {
    createServerLog(all)
    const returning = createReturning()
    await returning.connectAll([observer], [endpoint], 1)
    let refuse = 2
    io.use((_socket, next) => next(refuse-- > 0 ? new Error('not now') : undefined))
    returning.prepare({ addresses: [endpoint], mode: 'at once', behind: 0 })
    returning.cutAll()
    await waitFor(() => expect(returning.complete()).toBe(1))
    const { attempts, refusals } = returning.report()
    expect(attempts).toBe(3)
    expect(Object.entries(refusals)).toEqual([[expect.stringContaining('not now'), 2]])
    returning.leave()
  })

  test.each([
    { name: 'a gap in the log', numbers: [1, 2, 3, 5, 6, 7] },
    { name: 'a duplicate entry', numbers: [1, 2, 2, 3, 4, 5, 6, 7] },
    { name: 'a log that ends too early', numbers: [1, 2, 3, 4, 5, 6] },
  ])('notice $name', async ({ numbers }) => {
    createServerLog(numbers)
    const returning = createReturning()
    await returning.connectAll([observer], [endpoint], 1)
    expect(returning.report().wrong).toBeGreaterThan(0)
    returning.leave()
  })
})
