import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  closeCodes,
  decodeBinaryHeader,
  encodeBinaryFrame,
  shouldReconnect,
} from '@wheelhouse/protocol'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { Backoff } from '../../../packages/sdk/backoff.ts'
import {
  type LinkEnd,
  ObserverLink,
  OperatorLink,
  type OperatorLinkOptions,
} from '../../../packages/sdk/index.ts'
import { TicketRefusedError } from '../../../packages/sdk/tickets.ts'
import { DriverGateway, sessionId } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const quick = { baseMs: 2, maxMs: 10 }
const recorded = { reason: 'halt', latched: true, recorded: true }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  vi.restoreAllMocks()
})

async function openGateway(): Promise<DriverGateway> {
  const gateway = await new DriverGateway().listen()
  cleanups.push(() => gateway.close())
  return gateway
}

/** Returns tickets t1, t2, … for a gateway. */
function ticketsTo(gateway: DriverGateway) {
  let issued = 0
  return vi.fn(async () => {
    issued += 1
    return { url: gateway.url(), ticket: `t${issued}` }
  })
}

function operator(gateway: DriverGateway, options: Partial<OperatorLinkOptions> = {}): OperatorLink {
  const link = new OperatorLink({ getTicket: ticketsTo(gateway), reconnect: quick, ...options })
  cleanups.push(() => link.close())
  return link
}

/** Waits until all frames so far have arrived in both directions. */
async function settled(gateway: DriverGateway, link: OperatorLink, received: unknown[]): Promise<void> {
  const mark = `mark ${Math.random()}`
  const seq = link.control(mark)
  await waitFor(() => expect(gateway.frames.at(-1)).toMatchObject({ seq, data: mark }))
  gateway.send({ type: 'telemetry', data: mark })
  await waitFor(() => expect(received).toContain(mark))
}

describe('a connection', () => {
  test('uses the ticket as a subprotocol and begins with the state', async () => {
    const gateway = await openGateway()
    gateway.state = { status: 'PAUSED', robot_connected: false }
    const received: unknown[] = []
    const link = operator(gateway, {
      onConnection: (connection) => received.push(connection),
      onState: (state) => received.push(state.status),
    })
    expect(link).toMatchObject({ connection: 'idle', state: null, latency: null })
    expect(link.control({})).toBeNull()
    expect(await link.connect()).toMatchObject({ status: 'PAUSED', robot_connected: false, stop: null })
    await waitFor(() => expect(received).toEqual(['connecting', 'online', 'PAUSED']))
    expect(gateway.offers).toEqual(['wheelhouse.v1,bearer.t1'])
    expect(gateway.authorizations).toEqual([undefined])
    gateway.sendState({ status: 'ACTIVE', robot_connected: true })
    await waitFor(() => expect(received.at(-1)).toBe('ACTIVE'))
    expect(link.state).toMatchObject({ robot_connected: true })
  })

  const codes = [...Object.values(closeCodes).map(({ code }) => code), 1000, 1001, 1011, 3000, 4999]
  test.each(codes)('that is closed with %i is replaced only if the protocol allows it', async (code) => {
    const gateway = await openGateway()
    const closed = vi.fn<(end: LinkEnd) => void>()
    const received: string[] = []
    const link = operator(gateway, {
      onClosed: closed,
      onConnection: (connection, closeCode) => received.push(`${connection} ${closeCode ?? ''}`.trim()),
    })
    await link.connect()
    gateway.newest.close(code)
    if (shouldReconnect(code)) {
      await waitFor(() => expect(received.filter((entry) => entry === 'online')).toHaveLength(2))
      expect(received).toEqual(['connecting', 'online', `offline ${code}`, 'connecting', 'online'])
      expect(gateway.offers, 'a ticket works once').toEqual([
        'wheelhouse.v1,bearer.t1',
        'wheelhouse.v1,bearer.t2',
      ])
      expect(closed).not.toHaveBeenCalled()
    } else {
      await waitFor(() => expect(closed).toHaveBeenCalledOnce())
      expect(closed.mock.calls[0]?.[0]).toMatchObject({ closeCode: code })
      expect(link.connection).toBe('closed')
      expect(gateway.upgrades).toBe(1)
    }
  })

  test('that breaks is replaced with a fresh ticket, which may name another gateway', async () => {
    const [first, second] = [await openGateway(), await openGateway()]
    const getTicket = vi
      .fn()
      .mockResolvedValueOnce({ url: first.url(), ticket: 'a' })
      .mockResolvedValue({ url: second.url(), ticket: 'b' })
    const link = operator(first, { getTicket })
    await link.connect()
    first.newest.terminate()
    await waitFor(() => expect(second.sockets).toHaveLength(1))
    await waitFor(() => expect(link.connection).toBe('online'))
    expect(second.offers).toEqual(['wheelhouse.v1,bearer.b'])
  })

  test.each([4009, 4503])('that is closed with %i is replaced quickly once', async (code) => {
    const gateway = await openGateway()
    const nextDelayMs = vi.spyOn(Backoff.prototype, 'nextDelayMs').mockReturnValue(5)
    const link = operator(gateway)
    await link.connect()
    gateway.newest.close(code)
    await waitFor(() => expect(gateway.upgrades).toBe(2))
    expect(nextDelayMs).not.toHaveBeenCalled()
    gateway.newest.close(code)
    await waitFor(() => expect(gateway.upgrades).toBe(3))
    expect(nextDelayMs).toHaveBeenCalledOnce()
  })

  test('without frames is replaced', async () => {
    const gateway = await openGateway()
    gateway.pongs = false
    const offline: (number | undefined)[] = []
    const link = operator(gateway, {
      silenceMs: 60,
      onConnection: (connection, code) => {
        if (connection === 'offline') offline.push(code)
      },
    })
    await link.connect()
    await waitFor(() => expect(gateway.upgrades).toBeGreaterThanOrEqual(2))
    expect(offline[0]).toBe(1006)
  })

  test('stays open while pongs arrive, and measures the latency with them', async () => {
    const gateway = await openGateway()
    const link = operator(gateway, { silenceMs: 1_500, pingMs: 100 })
    await link.connect()
    await waitFor(() => expect(link.latency).not.toBeNull())
    await waitFor(() => expect(gateway.framesOf('ping').length).toBeGreaterThanOrEqual(20))
    expect(gateway.upgrades).toBe(1)
    const times = gateway.framesOf('ping').map(({ t }) => t as number)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
    expect(Math.abs(times[0]! - Date.now())).toBeLessThan(60_000)
    const { roundTripMs, clockOffsetMs } = link.latency!
    expect(roundTripMs).toBeGreaterThanOrEqual(0)
    // The clock of the fake gateway is five seconds ahead. The quickest ping measures it, to half its round trip and the
    // resolution of the two clocks.
    expect(Math.abs(clockOffsetMs - 5_000)).toBeLessThanOrEqual(roundTripMs / 2 + 50)
  })

  test('works with the standard WebSocket of browsers', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, {
      WebSocket: globalThis.WebSocket,
      onBinaryTelemetry: (payload) => received.push([...payload]),
      onAck: (seq) => received.push(seq),
    })
    await link.connect()
    expect(gateway.offers).toEqual(['wheelhouse.v1, bearer.t1'])
    expect([link.control('go'), link.controlBinary(Uint8Array.of(7))]).toEqual([1, 2])
    await waitFor(() => expect(gateway.binaries).toHaveLength(1))
    gateway.send({ type: 'ack', seq: 2 })
    gateway.newest.send(
      encodeBinaryFrame({ kind: BINARY_TELEMETRY, flags: 0, ttlMs: 0, seq: 0, t: 1 }, Uint8Array.of(1, 2)),
    )
    await waitFor(() => expect(received).toEqual([2, [1, 2]]))
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.upgrades).toBe(2))
    await waitFor(() => expect(link.connection).toBe('online'))
    gateway.newest.close(4410)
    await waitFor(() => expect(link.connection).toBe('closed'))
  })

  test('with the standard WebSocket is also replaced after silence', async () => {
    const gateway = await openGateway()
    gateway.pongs = false
    const link = operator(gateway, { WebSocket: globalThis.WebSocket, silenceMs: 60 })
    await link.connect()
    await waitFor(() => expect(gateway.upgrades).toBeGreaterThanOrEqual(2))
  })

  test('ends with close() in every phase and from inside a callback', async () => {
    const gateway = await openGateway()
    const idle = operator(gateway)
    await idle.close()
    await expect(idle.connect()).rejects.toThrow('closed')

    const waiting = operator(gateway, { getTicket: () => new Promise(() => {}) })
    waiting.connect().catch(() => {})
    await waiting.close()
    expect(waiting.connection).toBe('closed')

    for (const when of ['connecting', 'online', 'offline'] as const) {
      const ends: LinkEnd[] = []
      const link: OperatorLink = operator(gateway, {
        onConnection: (connection) => {
          if (connection === when) void link.close()
        },
        onClosed: (end) => ends.push(end),
      })
      link.connect().catch(() => {})
      if (when === 'offline') {
        await link.connect()
        gateway.newest.terminate()
      }
      await waitFor(() => expect(link.connection).toBe('closed'))
      await link.close()
      expect(ends).toHaveLength(1)
      expect(link.control({})).toBeNull()
    }
  })
})

describe('a refusal', () => {
  test.each([403, 404])('of the upgrade with %i ends the link', async (status) => {
    const gateway = await openGateway()
    gateway.refusals.push(status)
    const closed = vi.fn<(end: LinkEnd) => void>()
    await expect(operator(gateway, { onClosed: closed }).connect()).rejects.toThrow(String(status))
    expect(closed.mock.calls[0]?.[0]).toMatchObject({ httpStatus: status })
    expect(gateway.upgrades).toBe(1)
  })

  test('of one ticket leads to a fresh one, and of three in a row ends the link', async () => {
    const gateway = await openGateway()
    gateway.refusals.push(401, 401)
    const link = operator(gateway)
    await link.connect()
    expect(gateway.offers.at(-1)).toContain('bearer.t3')

    gateway.refusals.push(401, 401, 401, 401)
    const closed = vi.fn<(end: LinkEnd) => void>()
    await expect(operator(gateway, { onClosed: closed }).connect()).rejects.toThrow('401')
    expect(closed.mock.calls[0]?.[0]).toMatchObject({ httpStatus: 401 })
    expect(gateway.upgrades).toBe(6)
  })

  test('that is transient is retried', async () => {
    const gateway = await openGateway()
    gateway.refusals.push(503, 502, 429)
    await operator(gateway).connect()
    expect(gateway.upgrades).toBe(4)
  })

  test('of a ticket ends the link if it is final, and is retried otherwise', async () => {
    const gateway = await openGateway()
    const closed = vi.fn<(end: LinkEnd) => void>()
    const errors: unknown[] = []
    const getTicket = vi.fn(async () => {
      throw new TicketRefusedError(403, 'not yours', { final: true })
    })
    const link = operator(gateway, { getTicket, onClosed: closed, onError: (cause) => errors.push(cause) })
    await expect(link.connect()).rejects.toThrow('not yours')
    expect(closed.mock.calls[0]?.[0]).toEqual({ reason: 'not yours', httpStatus: 403 })
    expect(errors).toMatchObject([{ status: 403 }])
    expect(getTicket).toHaveBeenCalledOnce()

    const patient = ticketsTo(gateway)
    patient
      .mockRejectedValueOnce(new TypeError('fetch failed'))
      .mockRejectedValueOnce(new TicketRefusedError(503, 'later', { retryAfterMs: 1 }))
      .mockRejectedValueOnce(new TicketRefusedError(409, 'The robot is offline'))
    await operator(gateway, { getTicket: patient }).connect()
    expect(patient).toHaveBeenCalledTimes(4)
  })

  test('because of an offline robot is retried for offlinePatienceMs', async () => {
    const gateway = await openGateway()
    const closed = vi.fn<(end: LinkEnd) => void>()
    const getTicket = vi.fn(async () => {
      throw new TicketRefusedError(409, 'The robot is offline')
    })
    const link = operator(gateway, { getTicket, onClosed: closed, offlinePatienceMs: 50 })
    await expect(link.connect()).rejects.toThrow('offline')
    expect(closed.mock.calls[0]?.[0]).toEqual({ reason: 'The robot is offline', httpStatus: 409 })
    expect(getTicket.mock.calls.length).toBeGreaterThan(1)
  })

  test('is not caused by a late or unusable ticket', async () => {
    const gateway = await openGateway()
    const getTicket = ticketsTo(gateway)
    getTicket
      .mockImplementationOnce(() => new Promise(() => {}))
      .mockResolvedValueOnce({ url: 'no address', ticket: 't' })
      .mockResolvedValueOnce({ url: gateway.url(), ticket: 'with a space' })
    const link = operator(gateway, { getTicket, connectTimeoutMs: 1_000 })
    await link.connect()
    expect(getTicket.mock.calls.length).toBeGreaterThanOrEqual(4)
  })
})

describe('control', () => {
  test('has rising numbers and times, as text or bytes, also over new connections', async () => {
    const gateway = await openGateway()
    const link = operator(gateway)
    await link.connect()
    expect(link.control({ linear_mps: 1 })).toBe(1)
    expect(link.control('x', { ttlMs: 80 })).toBe(2)
    expect(link.controlBinary(Uint8Array.of(1, 2, 3), { ttlMs: 90 })).toBe(3)
    expect(link.controlBinary(new Uint8Array())).toBe(4)
    await waitFor(() => expect(gateway.binaries).toHaveLength(2))
    const [first, second] = gateway.framesOf('control')
    expect(first).toEqual({ type: 'control', seq: 1, t: expect.any(Number), data: { linear_mps: 1 } })
    expect(second).toMatchObject({ seq: 2, ttl_ms: 80, data: 'x' })
    const [third, fourth] = gateway.binaries.map((frame) => decodeBinaryHeader(frame))
    expect(third).toMatchObject({ kind: BINARY_CONTROL, flags: 0, ttlMs: 90, seq: 3 })
    expect([...gateway.binaries[0]!.subarray(BINARY_HEADER_BYTES)]).toEqual([1, 2, 3])
    expect(fourth).toMatchObject({ ttlMs: 0, seq: 4 })
    const times = [first?.t, second?.t, third?.t, fourth?.t] as number[]
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(Math.abs(times[0]! - Date.now())).toBeLessThan(60_000)

    gateway.newest.terminate()
    await waitFor(() => expect(gateway.sockets).toHaveLength(2))
    await waitFor(() => expect(link.connection).toBe('online'))
    expect(link.control('again')).toBe(5)
    await waitFor(() => expect(gateway.framesOf('control').at(-1)).toMatchObject({ seq: 5 }))
  })

  test('is slowed down to the allowed speed, which every new connection begins without', async () => {
    const gateway = await openGateway()
    const limits: unknown[] = []
    const link = operator(gateway, { onLimits: (next) => limits.push(next) })
    await link.connect()
    link.control({ linear_mps: 1 })
    const half = { speed_scale: 0.5, reason: 'latency' }
    gateway.send({ type: 'limits', ...half })
    await waitFor(() => expect(link.limits).toEqual(half))
    const data = { linear_mps: 1, angular_radps: -1, gripper: 1 }
    link.control(data)
    expect(data.linear_mps).toBe(1)
    await waitFor(() => expect(gateway.framesOf('control')).toHaveLength(2))
    const [first, second] = gateway.framesOf('control')
    expect(first).not.toHaveProperty('speed_scale')
    expect(second).toMatchObject({
      speed_scale: 0.5,
      data: { linear_mps: 0.5, angular_radps: -0.5, gripper: 1 },
    })
    gateway.newest.terminate()
    const full = { speed_scale: 1, reason: null }
    await waitFor(() => expect(limits).toEqual([half, full]))
  })

  test('is answered with its round trip, or with the reason of its drop', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, {
      onAck: (seq, roundTripMs) => received.push(['ack', seq, roundTripMs]),
      onDropped: (seq, why) => received.push(['dropped', seq, why]),
      onLatency: ({ operator_ms, robot_ms }) => received.push([operator_ms, robot_ms]),
    })
    await link.connect()
    link.control(1)
    link.controlBinary(Uint8Array.of(2))
    gateway.send({ type: 'ack', seq: 1 })
    gateway.send({ type: 'dropped', seq: 2, why: 'expired' })
    gateway.send({ type: 'ack', seq: 2 })
    gateway.send({ type: 'latency', operator_ms: 12, robot_ms: null })
    await waitFor(() => expect(received).toHaveLength(4))
    expect(received).toEqual([
      ['ack', 1, expect.any(Number)],
      ['dropped', 2, 'expired'],
      ['ack', 2, null],
      [12, null],
    ])
    expect((received[0] as number[])[2]).toBeGreaterThanOrEqual(0)
  })

  test('without an answer is forgotten after a limit', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, {
      maxBufferedBytes: Number.POSITIVE_INFINITY,
      onAck: (seq, roundTripMs) => received.push([seq, roundTripMs === null]),
    })
    await link.connect()
    // Urgent commands have a number each, also where a busy machine looks like a congested link.
    for (let frame = 0; frame < 1_100; frame += 1) link.control(frame, { urgent: true })
    gateway.send({ type: 'ack', seq: 1 })
    gateway.send({ type: 'ack', seq: 1_100 })
    await waitFor(() =>
      expect(received).toEqual([
        [1, true],
        [1_100, false],
      ]),
    )
  })

  test('is never queued for a connection or behind unsent bytes', async () => {
    const gateway = await openGateway()
    const opened: WebSocket[] = []
    class Observed extends WebSocket {
      constructor(url: string, protocols: string[], options: ClientOptions) {
        super(url, protocols, options)
        opened.push(this)
      }
    }
    const link = operator(gateway, { WebSocket: Observed, maxBufferedBytes: 100_000 })
    await link.connect()
    gateway.newest.pause()
    const data = 'x'.repeat(60_000)
    // Urgent commands do not wait for their turn: each one is sent or dropped. The buffers of the kernel take the first ones.
    let mostBuffered = 0
    let sent = 0
    while (sent < 2_000 && link.control(data, { urgent: true }) !== null) {
      sent += 1
      mostBuffered = Math.max(mostBuffered, opened[0]?.bufferedAmount ?? 0)
    }
    expect(sent).toBeLessThan(2_000)
    expect(mostBuffered).toBeGreaterThan(100_000)
    expect(mostBuffered).toBeLessThan(100_000 + 61_000)
    expect(link.control(data, { urgent: true }), 'nothing has been read in between').toBeNull()
    expect(opened[0]?.bufferedAmount).toBe(mostBuffered)
    void link.stop('now')
    gateway.newest.resume()
    await waitFor(() => expect(gateway.framesOf('stop')).toMatchObject([{ reason: 'now' }]))

    gateway.state = null
    gateway.newest.terminate()
    await waitFor(() => expect(link.connection).not.toBe('online'))
    expect(link.control('lost')).toBeNull()
    expect(link.controlBinary(Uint8Array.of(1))).toBeNull()
    await waitFor(() => expect(gateway.sockets).toHaveLength(2))
    gateway.sendState({ stop: recorded })
    await waitFor(() => expect(link.control('fresh')).not.toBeNull())
    await waitFor(() => expect(gateway.framesOf('control').at(-1)?.data).toBe('fresh'))
    expect(gateway.frames.some((frame) => frame.data === 'lost')).toBe(false)
  })

  test('that is too large or has an invalid ttl is refused by the link', async () => {
    const gateway = await openGateway()
    const errors: unknown[] = []
    const link = operator(gateway, { onError: (cause) => errors.push(cause) })
    await link.connect()
    expect(link.control('x'.repeat(70_000))).toBeNull()
    expect(link.control('€'.repeat(30_000))).toBeNull()
    expect(link.controlBinary(new Uint8Array(65_536))).toBeNull()
    await waitFor(() => expect(errors).toHaveLength(3))
    for (const error of errors) expect(error).toBeInstanceOf(RangeError)
    expect(link.control('fits', { ttlMs: 65_535 }), 'refused frames have no number').toBe(1)
    for (const ttlMs of [0, -1, 1.5, 65_536, Number.NaN])
      expect(() => link.control('x', { ttlMs }), String(ttlMs)).toThrow(RangeError)
    expect(link.connection).toBe('online')
  })
})

describe('telemetry', () => {
  test('arrives unchanged, as text or bytes; malformed frames are reported without closing the connection', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const errors: unknown[] = []
    const link = operator(gateway, {
      onTelemetry: (data) => received.push(data),
      onBinaryTelemetry: (payload, header) => received.push([header.seq, header.t, [...payload]]),
      onError: (cause) => errors.push(cause),
    })
    await link.connect()
    const binary = (kind: number) =>
      gateway.newest.send(
        encodeBinaryFrame({ kind, flags: 0, ttlMs: 0, seq: 9, t: 1.5 }, Uint8Array.of(4, 5)),
      )
    gateway.send({ type: 'telemetry', data: { x: [1] } })
    binary(BINARY_TELEMETRY)
    binary(77)
    gateway.newest.send(Buffer.from([2, 0]))
    gateway.newest.send('not json')
    gateway.send({ type: 'ack', seq: 'one' })
    gateway.send({ type: 'something_new' })
    gateway.send({ type: 'error', message: 'slow down' })
    gateway.send({ type: 'telemetry', data: null })
    await waitFor(() => expect(received).toEqual([{ x: [1] }, [9, 1.5, [4, 5]], null]))
    await waitFor(() => expect(errors).toHaveLength(4))
    expect(link.connection).toBe('online')
  })

  test('before the first state is ignored', async () => {
    const gateway = await openGateway()
    gateway.state = null
    const received: unknown[] = []
    const link = operator(gateway, { onTelemetry: (data) => received.push(data) })
    const connected = link.connect()
    await waitFor(() => expect(gateway.sockets).toHaveLength(1))
    gateway.send({ type: 'telemetry', data: 'early' })
    gateway.sendState()
    gateway.send({ type: 'telemetry', data: 'later' })
    await connected
    await waitFor(() => expect(received).toEqual(['later']))
  })
})

describe('a stop', () => {
  /** Returns the current state of a promise. */
  function watch(promise: Promise<void>): { state: 'pending' | 'resolved' | 'rejected' } {
    const seen: { state: 'pending' | 'resolved' | 'rejected' } = { state: 'pending' }
    promise.then(
      () => {
        seen.state = 'resolved'
      },
      () => {
        seen.state = 'rejected'
      },
    )
    return seen
  }

  test('is sent at once and resolves when recorded; until then the link sends no control', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, { onState: ({ stop }) => received.push(stop) })
    await link.connect()
    const stopping = link.stop(`halt ${'!'.repeat(600)}`)
    expect(link.stopPending).toBe(true)
    expect(link.control('on')).toBeNull()
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    expect(gateway.framesOf('stop')[0]?.reason).toHaveLength(500)
    const seen = watch(stopping)
    gateway.sendState({ stop: { reason: 'halt', latched: true, recorded: false } })
    await waitFor(() => expect(received.at(-1)).toMatchObject({ recorded: false }))
    expect(seen.state).toBe('pending')
    gateway.sendState({ stop: recorded })
    await stopping
    expect(link.stopPending).toBe(false)
    expect(link.control('on'), 'the gateway judges from here on').toBe(1)
  })

  test('before the first connection is its first frame', async () => {
    const gateway = await openGateway()
    const link: OperatorLink = operator(gateway, {
      onConnection: () => link.control('eager'),
      onState: () => link.control('eager'),
    })
    const stopping = link.stop('early')
    await link.connect()
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    expect(gateway.frames[0]).toEqual({ type: 'stop', reason: 'early' })
    expect(gateway.framesOf('control')).toEqual([])
    gateway.sendState({ stop: recorded })
    await stopping
  })

  test('while offline is sent over the next connection', async () => {
    const gateway = await openGateway()
    let stopping: Promise<void> | undefined
    const link: OperatorLink = operator(gateway, {
      onConnection: (connection) => {
        if (connection === 'offline') stopping ??= link.stop()
      },
    })
    await link.connect()
    gateway.refusals.push(503, 503)
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.framesOf('stop')).toEqual([{ type: 'stop' }]))
    expect(gateway.sockets).toHaveLength(2)
    gateway.sendState({ stop: recorded })
    await stopping
  })

  test('whose connection is lost before it is recorded is repeated over every new one', async () => {
    const gateway = await openGateway()
    const link = operator(gateway)
    await link.connect()
    const stopping = link.stop('halt')
    for (const stop of [null, { reason: 'halt', latched: true, recorded: false }]) {
      const before = gateway.sockets.length
      await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(before))
      gateway.state = { stop }
      gateway.newest.terminate()
      await waitFor(() => expect(gateway.sockets).toHaveLength(before + 1))
    }
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(3))
    expect(link.stopPending).toBe(true)
    gateway.sendState({ stop: recorded })
    await stopping
  })

  test('that was recorded during an outage resolves and is not repeated', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, { onTelemetry: (data) => received.push(data) })
    await link.connect()
    const stopping = link.stop('halt')
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    gateway.state = { stop: recorded }
    gateway.newest.terminate()
    await stopping
    await settled(gateway, link, received)
    expect(gateway.framesOf('stop')).toHaveLength(1)
  })

  test('that is recorded is not repeated after it is cleared, also after a reconnect', async () => {
    const gateway = await openGateway()
    const received: unknown[] = []
    const link = operator(gateway, { onTelemetry: (data) => received.push(data) })
    await link.connect()
    const stopping = link.stop('halt')
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    gateway.sendState({ stop: recorded })
    await stopping
    gateway.sendState({ stop: null })
    await settled(gateway, link, received)
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.sockets).toHaveLength(2))
    await waitFor(() => expect(link.connection).toBe('online'))
    await settled(gateway, link, received)
    expect(gateway.framesOf('stop')).toHaveLength(1)
  })

  test('does not resolve with a state of an earlier stop', async () => {
    const gateway = await openGateway()
    gateway.pongs = false
    gateway.state = { stop: recorded }
    const states: unknown[] = []
    const link = operator(gateway, { onState: ({ stop }) => states.push(stop) })
    await link.connect()
    const stopping = link.stop('again')
    const seen = watch(stopping)
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    await waitFor(() => expect(gateway.frames.at(-1)?.type).toBe('ping'))
    // Sent before the stop arrived: the earlier stop, and its clearing.
    gateway.sendState({ stop: recorded })
    gateway.sendState({ stop: null })
    await waitFor(() => expect(states).toEqual([recorded, recorded, null]))
    expect(seen.state).toBe('pending')
    // The connection breaks before the gateway has confirmed the stop.
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(2))
    expect(seen.state).toBe('pending')
    gateway.pongs = true
    gateway.sendState({ stop: recorded })
    await stopping
  })

  test('after a recorded one resolves when the gateway has received it', async () => {
    const gateway = await openGateway()
    gateway.pongs = false
    gateway.state = { stop: recorded }
    const link = operator(gateway)
    await link.connect()
    const stopping = link.stop('and again')
    await waitFor(() => expect(gateway.framesOf('ping')).toHaveLength(2))
    expect(link.stopPending).toBe(true)
    const [before, behind] = gateway.framesOf('ping')
    gateway.send({ type: 'pong', t: before?.t, server_t: 1 })
    await waitFor(() => expect(link.latency).not.toBeNull())
    expect(link.stopPending, 'that ping was sent before the stop').toBe(true)
    gateway.send({ type: 'pong', t: behind?.t, server_t: 1 })
    await stopping
  })

  test('without an effect is repeated over the same connection', async () => {
    const gateway = await openGateway()
    const link = operator(gateway)
    await link.connect()
    const stopping = link.stop('halt')
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(2))
    expect(gateway.upgrades).toBe(1)
    gateway.sendState({ stop: recorded })
    await stopping
  })

  test('that is requested several times is one request', async () => {
    const gateway = await openGateway()
    const link = operator(gateway)
    await link.connect()
    const stopRequests = [link.stop('one'), link.stop('two'), link.stop('three')]
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(3))
    gateway.sendState({ stop: recorded })
    await Promise.all(stopRequests)
  })

  test('rejects only when the link ends, and can be ignored', async () => {
    const gateway = await openGateway()
    const link = operator(gateway)
    await link.connect()
    const stopping = link.stop('halt')
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    gateway.newest.close(4410, 'session over')
    await expect(stopping).rejects.toThrow('session over')
    await expect(link.stop()).rejects.toThrow('closed')

    const closing = operator(gateway)
    void closing.stop('ignored')
    await closing.close()
    expect(closing.stopPending).toBe(false)
  })
})

test('an observer receives state and telemetry, and can stop the robot', async () => {
  const gateway = await openGateway()
  const received: unknown[] = []
  const link = new ObserverLink({
    getTicket: async () => ({ url: gateway.url('watch'), ticket: 'w' }),
    reconnect: quick,
    onTelemetry: (data) => received.push(data),
  })
  cleanups.push(() => link.close())
  await link.connect()
  expect(gateway.offers).toEqual(['wheelhouse.v1,bearer.w'])
  gateway.send({ type: 'telemetry', data: sessionId })
  await waitFor(() => expect(received).toEqual([sessionId]))
  const stopping = link.stop('seen enough')
  await waitFor(() => expect(gateway.framesOf('stop')).toMatchObject([{ reason: 'seen enough' }]))
  gateway.sendState({ stop: recorded })
  await stopping
  expect('control' in link).toBe(false)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('mine')
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('mine')
    },
  ],
])('a callback that %s is reported and does not close the connection', async (_, onState) => {
  const gateway = await openGateway()
  const errors: unknown[] = []
  const link = operator(gateway, {
    onState,
    onError: (cause) => errors.push(cause),
  })
  await link.connect()
  await waitFor(() => expect(errors).toMatchObject([{ message: 'mine' }]))
  expect(link.connection).toBe('online')
})
