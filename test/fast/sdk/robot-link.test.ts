import { closeCodes, shouldReconnect } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { Backoff } from '../../../packages/sdk/backoff.ts'
import { RobotLink } from '../../../packages/sdk/robot-link.ts'
import type { RobotLinkEnd, RobotLinkOptions } from '../../../packages/sdk/robot-link-options.ts'
import { readFrame } from '../../../packages/sdk/robot-socket.ts'
import { RobotGateway, robotId, sessionId } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const session = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' } as const
const quick = { baseMs: 2, maxMs: 10 }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

class Gateway extends RobotGateway {
  override async listen(port = 0): Promise<this> {
    await super.listen(port)
    cleanups.push(() => this.close())
    return this
  }
}

function robot(gateway: { url: string }, options: Partial<RobotLinkOptions> = {}): RobotLink {
  const link = new RobotLink({ url: gateway.url, token: 'robot-token', reconnect: quick, ...options })
  cleanups.push(() => link.close())
  return link
}

test('a robot presents its token as a bearer, waits for the welcome and then sends heartbeats', async () => {
  const gateway = await new Gateway().listen()
  gateway.welcome = { session }
  const received: unknown[] = []
  const link = robot(gateway, {
    heartbeat: () => ({ battery: 0.5, type: 'mine', seq: -1 }),
    onConnection: (state) => received.push(state),
    onWelcome: (welcome) => received.push(welcome.epoch),
    onSession: (now) => received.push(now?.operator_name),
  })
  expect(link.state).toBe('idle')
  expect(link.telemetry({})).toBe(false)
  await link.connect()
  expect(received).toEqual(['connecting', 'online', 1, 'Ada'])
  expect(link).toMatchObject({ state: 'online', epoch: 1, robotId, session: { session_id: sessionId } })
  expect(gateway.authorizations).toEqual(['Bearer robot-token'])
  await waitFor(() => expect(gateway.frames.length).toBeGreaterThanOrEqual(3))
  expect(gateway.frames.slice(0, 3)).toEqual(
    [1, 2, 3].map((seq) => ({ type: 'heartbeat', battery: 0.5, seq })),
  )
  expect(link.ack(7)).toBe(true)
  expect(link.stopped('x'.repeat(300))).toBe(true)
  expect(link.log('warn', 'low battery')).toBe(true)
  expect(link.telemetry({ x: 1 })).toBe(true)
  await waitFor(() => {
    const others = gateway.frames.filter((frame) => frame.type !== 'heartbeat')
    expect(others).toEqual([
      { type: 'ack', seq: 7 },
      { type: 'stopped', reason: 'x'.repeat(200) },
      { type: 'log', level: 'warn', message: 'low battery' },
      { type: 'telemetry', data: { x: 1 } },
    ])
  })
})

test('a heartbeat whose extra fields fail or cannot be sent still goes out', async () => {
  const gateway = await new Gateway().listen()
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const errors: unknown[] = []
  let beats = 0
  const link = robot(gateway, {
    heartbeat: () => {
      beats += 1
      if (beats === 1) throw new Error('sensor')
      return circular
    },
    onError: (cause) => errors.push(cause),
  })
  await link.connect()
  await waitFor(() => expect(gateway.frames.length).toBeGreaterThanOrEqual(2))
  expect(gateway.frames.slice(0, 2)).toEqual([1, 2].map((seq) => ({ type: 'heartbeat', seq })))
  expect(errors[0]).toMatchObject({ message: 'sensor' })
})

test('a robot in a session reconnects within a second, whatever its other delays are', async () => {
  const gateway = await new Gateway().listen()
  gateway.welcome = { session }
  // Without the session, the first delay would be longer than any test.
  const link = robot(gateway, { reconnect: { baseMs: 600_000, maxMs: 600_000, random: () => 0.999 } })
  await link.connect()
  gateway.newest.terminate()
  await waitFor(() => expect(link.epoch).toBe(2))
})

const codes = [...Object.values(closeCodes).map(({ code }) => code), 1000, 1001, 1011, 3000, 4999]
test.each(codes)('reconnects after close code %i only if the protocol allows it', async (code) => {
  const gateway = await new Gateway().listen()
  const closed = vi.fn<(end: RobotLinkEnd) => void>()
  const states: string[] = []
  const link = robot(gateway, {
    onClosed: closed,
    onConnection: (state, closeCode) =>
      states.push(closeCode === undefined ? state : `${state} ${closeCode}`),
  })
  await link.connect()
  gateway.newest.close(code)
  if (shouldReconnect(code)) {
    await waitFor(() => expect(link.epoch).toBe(2))
    expect(states).toEqual(['connecting', 'online', `offline ${code}`, 'connecting', 'online'])
    expect(closed).not.toHaveBeenCalled()
  } else {
    await waitFor(() => expect(closed).toHaveBeenCalledOnce())
    expect(closed.mock.calls[0]?.[0]).toMatchObject({ closeCode: code })
    expect(link.state).toBe('closed')
    expect(gateway.upgrades).toBe(1)
  }
})

test('reconnects after a connection breaks without a handshake', async () => {
  const gateway = await new Gateway().listen()
  const link = robot(gateway)
  await link.connect()
  gateway.newest.terminate()
  await waitFor(() => expect(link).toMatchObject({ state: 'online', epoch: 2 }))
})

test.each([401, 403, 404])('an upgrade refused with %i is final', async (status) => {
  const gateway = await new Gateway().listen()
  gateway.refusals.push(status)
  const closed = vi.fn<(end: RobotLinkEnd) => void>()
  const link = robot(gateway, { onClosed: closed })
  await expect(link.connect()).rejects.toThrow(String(status))
  await waitFor(() => expect(closed).toHaveBeenCalledOnce())
  expect(closed.mock.calls[0]?.[0]).toMatchObject({ httpStatus: status })
  expect(gateway.upgrades).toBe(1)
})

test('a robot that is refused with Retry-After waits at least that long', async () => {
  const gateway = await new Gateway().listen()
  gateway.refusals.push(429)
  gateway.retryAfter = '1'
  const link = robot(gateway)
  const startedAt = performance.now()
  await link.connect()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
  expect(gateway.upgrades).toBe(2)
})

test('a Retry-After that is not a number of seconds is ignored', async () => {
  const gateway = await new Gateway().listen()
  gateway.refusals.push(503)
  gateway.retryAfter = 'Wed, 21 Oct 2099 07:28:00 GMT'
  await robot(gateway).connect()
  expect(gateway.upgrades).toBe(2)
})

test('retries a busy, a silent and an unreachable gateway', async () => {
  const gateway = await new Gateway().listen()
  gateway.refusals.push(503, 502, 429)
  const link = robot(gateway)
  await link.connect()
  expect(gateway.upgrades).toBe(4)

  const silent = await new Gateway().listen()
  silent.welcome = null
  const patient = robot(silent, { connectTimeoutMs: 500 })
  void patient.connect()
  await waitFor(() => expect(silent.upgrades).toBeGreaterThanOrEqual(2))
  silent.welcome = {}
  await patient.connect()

  const first = await new Gateway().listen()
  const { port, url } = first
  await first.close()
  const attempts: string[] = []
  const early = robot({ url }, { onConnection: (state) => attempts.push(state) })
  void early.connect()
  await waitFor(() => expect(attempts.filter((state) => state === 'offline').length).toBeGreaterThan(2))
  await new Gateway().listen(port)
  await early.connect()
  expect(early.state).toBe('online')
})

test('the robot replaces a link on which no frame arrives', async () => {
  const gateway = await new Gateway().listen()
  gateway.acknowledges = false
  gateway.welcome = { heartbeat_timeout_ms: 60 }
  const offline: (number | undefined)[] = []
  const link = robot(gateway, {
    onConnection: (state, code) => {
      if (state === 'offline') offline.push(code)
    },
  })
  await link.connect()
  await waitFor(() => expect(link.epoch).toBeGreaterThanOrEqual(2))
  expect(offline[0]).toBe(1006)
})

test('acknowledged heartbeats keep a quiet link alive beyond its timeout', async () => {
  const gateway = await new Gateway().listen()
  gateway.welcome = { heartbeat_interval_ms: 40, heartbeat_timeout_ms: 400 }
  const link = robot(gateway)
  await link.connect()
  await waitFor(() => expect(gateway.frames.length).toBeGreaterThan(15))
  expect(link).toMatchObject({ state: 'online', epoch: 1 })
})

test('the backoff grows until a welcome and then restarts', async () => {
  const gateway = await new Gateway().listen()
  gateway.refusals.push(503, 503, 503)
  const attempts: number[] = []
  const nextDelayMs = Backoff.prototype.nextDelayMs
  vi.spyOn(Backoff.prototype, 'nextDelayMs').mockImplementation(function (this: Backoff) {
    attempts.push(this.attempts)
    return nextDelayMs.call(this)
  })
  cleanups.push(async () => vi.restoreAllMocks())
  const link = robot(gateway)
  await link.connect()
  gateway.newest.terminate()
  await waitFor(() => expect(link.epoch).toBe(2))
  expect(attempts).toEqual([0, 1, 2, 0])
})

test('telemetry is dropped, not queued, while the gateway does not read', async () => {
  const gateway = await new Gateway().listen()
  const opened: WebSocket[] = []
  class Observed extends WebSocket {
    constructor(url: string, options: ClientOptions) {
      super(url, options)
      opened.push(this)
    }
  }
  const link = robot(gateway, { WebSocket: Observed, maxBufferedBytes: 100_000 })
  await link.connect()
  gateway.newest.pause()
  const sample = 'x'.repeat(60_000)
  // The buffers of the kernel take the first samples.
  let mostBuffered = 0
  let sent = 0
  while (sent < 2_000 && link.telemetry(sample)) {
    sent += 1
    mostBuffered = Math.max(mostBuffered, opened[0]?.bufferedAmount ?? 0)
  }
  expect(sent).toBeLessThan(2_000)
  expect(mostBuffered).toBeLessThan(100_000 + 61_000)
  expect(link.telemetry(sample), 'nothing has been read in between').toBe(false)
  expect(opened[0]?.bufferedAmount).toBe(mostBuffered)
  expect(link.stopped('sent under pressure')).toBe(true)
  gateway.newest.resume()
  await waitFor(() => expect(link.telemetry('again')).toBe(true))
  await waitFor(() => expect(gateway.frames.some((frame) => frame.data === 'again')).toBe(true))
  expect(gateway.frames.some((frame) => frame.reason === 'sent under pressure')).toBe(true)
})

test('a frame over the protocol limit is dropped by the link and does not close the connection', async () => {
  const gateway = await new Gateway().listen()
  const errors: unknown[] = []
  const link = robot(gateway, { onError: (cause) => errors.push(cause) })
  await link.connect()
  expect(link.telemetry('x'.repeat(70_000))).toBe(false)
  await waitFor(() => expect(errors[0]).toBeInstanceOf(RangeError))
  expect(link.state).toBe('online')
})

test('control, session and stop arrive in order; a latched stop blocks control until it is cleared', async () => {
  const gateway = await new Gateway().listen()
  const received: unknown[] = []
  const errors: unknown[] = []
  const link = robot(gateway, {
    onSession: (now) => received.push(now?.status ?? null),
    onControl: (control) => received.push(control.seq),
    onStop: (stop) => received.push(stop),
    onStopCleared: () => received.push('cleared'),
    onError: (cause) => errors.push(cause),
  })
  await link.connect()
  const control = (seq: number) =>
    gateway.send({ type: 'control', session_id: sessionId, seq, t: performance.now(), ttl_ms: 250, data: {} })
  gateway.send({ type: 'session', ...session })
  control(1)
  gateway.send({ type: 'stop', reason: 'deadman', latched: false })
  control(2)
  gateway.send({ type: 'something_new', field: 1 })
  gateway.send({ type: 'stop' })
  gateway.send({ type: 'stop', reason: 'deadman', latched: false })
  gateway.send({ type: 'control', seq: 'bad' })
  gateway.newest.send('not json')
  gateway.newest.send(Buffer.from([1, 2, 3]))
  control(3)
  gateway.send({ type: 'error', message: 'slow down' })
  gateway.send({ type: 'stop_cleared' })
  control(4)
  gateway.send({ type: 'session', ...session, status: 'COMPLETED' })
  await waitFor(() => expect(received.at(-1)).toBe('COMPLETED'))
  expect(received).toEqual([
    null,
    'ACTIVE',
    1,
    { reason: 'deadman', latched: false },
    2,
    { reason: 'unreadable stop', latched: true },
    { reason: 'deadman', latched: true },
    { reason: 'invalid_command', latched: true }, // a control frame without a seq
    'cleared',
    4,
    'COMPLETED',
  ])
  expect(link.session).toBeNull()
  // Text and bytes that are not frames, and an error frame of the gateway.
  expect(errors).toHaveLength(3)
})

test('a stop and its clearing survive a reconnect', async () => {
  const gateway = await new Gateway().listen()
  const received: unknown[] = []
  const link = robot(gateway, {
    onStop: ({ reason }) => received.push(reason),
    onStopCleared: () => received.push('cleared'),
  })
  gateway.welcome = { stop: { reason: 'emergency', latched: true } }
  await link.connect()
  expect(link.stop).toEqual({ reason: 'emergency', latched: true })
  gateway.newest.terminate()
  await waitFor(() => expect(received).toEqual(['emergency', 'emergency']))
  gateway.welcome = { stop: null }
  gateway.newest.terminate()
  await waitFor(() => expect(received).toEqual(['emergency', 'emergency', 'cleared']))
  expect(link.stop).toBeNull()
})

test('a callback that throws is reported and does not close the connection', async () => {
  const gateway = await new Gateway().listen()
  const errors: unknown[] = []
  const link = robot(gateway, {
    onWelcome: () => {
      throw new Error('mine')
    },
    onError: (cause) => errors.push(cause),
  })
  await link.connect()
  await waitFor(() => expect(errors).toMatchObject([{ message: 'mine' }]))
  expect(link.state).toBe('online')
})

test('close() is final in every state, also from inside a callback', async () => {
  const gateway = await new Gateway().listen()
  const idle = robot(gateway)
  await idle.close()
  await expect(idle.connect()).rejects.toThrow('closed')

  for (const when of ['connecting', 'online', 'offline'] as const) {
    const ends: RobotLinkEnd[] = []
    const link: RobotLink = robot(gateway, {
      onConnection: (state) => {
        if (state === when) void link.close()
      },
      onClosed: (end) => ends.push(end),
    })
    link.connect().catch(() => {})
    if (when === 'offline') {
      await link.connect()
      gateway.newest.terminate()
    }
    await waitFor(() => expect(link.state).toBe('closed'))
    await link.close()
    expect(ends).toHaveLength(1)
  }
})

test('invalid addresses and tokens are rejected at once', () => {
  expect(() => new RobotLink({ url: 'http://127.0.0.1', token: 't' })).toThrow(TypeError)
  expect(() => new RobotLink({ url: 'ws://127.0.0.1', token: 'a\r\nb' })).toThrow(TypeError)
})

test('no text from the network breaks the reader', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((json) => `{"type":"stop","x":${json}}`),
      ),
      (text) => {
        try {
          const frame = readFrame(text)
          if (text.startsWith('{"type":"stop","x"'))
            expect(frame).toMatchObject({ type: 'stop', latched: true })
        } catch (cause) {
          expect(cause).toBeInstanceOf(Error)
        }
      },
    ),
    { seed: 20_261_105 },
  )
})
