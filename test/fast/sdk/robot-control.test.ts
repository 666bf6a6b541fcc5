import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  decodeBinaryHeader,
  encodeBinaryFrame,
} from '@wheelhouse/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { FrameAge } from '../../../packages/sdk/frame-age.ts'
import { RobotLink, type RobotLinkOptions } from '../../../packages/sdk/index.ts'
import { RobotGateway, sessionId } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const session = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' } as const
const otherSessionId = '8d0f42a7-38a3-4f5b-b1a2-5b1f6a4ce7a1'
const quick = { baseMs: 2, maxMs: 10 }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Connects a robot to a fake gateway and records its callbacks. */
async function createFixture(options: Partial<RobotLinkOptions> = {}, deadmanMs = 60_000) {
  const gateway = await new RobotGateway().listen()
  cleanups.push(() => gateway.close())
  gateway.welcome = { session, deadman_ms: deadmanMs }
  const received: unknown[] = []
  const link: RobotLink = new RobotLink({
    url: gateway.url,
    token: 'robot-token',
    reconnect: quick,
    watchdogMarginMs: 20,
    lateAllowanceMs: 100,
    onControl: ({ seq }) => received.push(seq),
    onBinaryControl: (payload, { seq }) => received.push([seq, ...payload]),
    onLateControl: (seq, ageMs) => received.push({ late: seq, byAtLeast100Ms: ageMs >= 100 }),
    onStop: ({ reason, latched }) => {
      received.push({ stop: reason, latched })
      link.stopped(reason)
    },
    onConnection: (state) => state === 'offline' && received.push(state),
    onError: (cause) => received.push(cause),
    ...options,
  })
  cleanups.push(() => link.close())
  await link.connect()
  /** Sends a control frame that is `ageMs` old. */
  const control = (seq: number, ageMs = 0, session_id: string = sessionId) =>
    gateway.send({ type: 'control', session_id, seq, t: performance.now() - ageMs, ttl_ms: 250, data: {} })
  const binary = (seq: number, { t = performance.now(), ttlMs = 250, kind = BINARY_CONTROL } = {}) =>
    gateway.newest.send(encodeBinaryFrame({ kind, flags: 0, ttlMs, seq, t }, Uint8Array.of(7, 8)))
  return { gateway, received, link, control, binary }
}

describe('control that changes hands', () => {
  const holder = {
    participant_id: otherSessionId,
    kind: 'supervisor',
    user_id: otherSessionId,
    name: 'Ada',
    since: '2026-11-20T09:30:00.000Z',
  } as const
  const fenced = (seq: number, epoch?: number) => ({
    type: 'control',
    session_id: sessionId,
    seq,
    ...(epoch !== undefined && { epoch }),
    t: performance.now(),
    ttl_ms: 250,
    data: {},
  })

  test('halts a moving robot, which obeys no earlier epoch afterwards, also over a new connection', async () => {
    const leases: unknown[] = []
    const { gateway, received, link } = await createFixture({ onLease: ({ epoch }) => leases.push(epoch) })
    gateway.send(fenced(1))
    gateway.send({ type: 'lease', epoch: 3, holder })
    gateway.send(fenced(2))
    gateway.send(fenced(3, 2))
    gateway.send({ type: 'lease', epoch: 2, holder: null })
    gateway.send(fenced(4, 3))
    await waitFor(() => expect(received.at(-1)).toBe(4))
    expect(received).toEqual([1, { stop: 'control_transferred', latched: false }, 4])
    expect(leases).toEqual([3])

    gateway.newest.terminate()
    await waitFor(() => expect(received).toContain('offline'))
    await waitFor(() => expect(link.state).toBe('online'))
    gateway.send(fenced(5, 2))
    gateway.send(fenced(6, 3))
    await waitFor(() => expect(received.at(-1)).toBe(6))
    expect(received).not.toContain(5)
  })

  test('begins anew with another session', async () => {
    const { gateway, received } = await createFixture()
    gateway.send({ type: 'lease', epoch: 3, holder })
    gateway.send({ type: 'session', ...session, session_id: otherSessionId })
    gateway.send({ ...fenced(1), session_id: otherSessionId })
    await waitFor(() => expect(received.at(-1)).toBe(1))
  })
})

describe('binary frames', () => {
  test('of control reach the robot unchanged, except during a latched stop', async () => {
    const { gateway, received, link, binary, control } = await createFixture()
    binary(1)
    binary(2, { kind: BINARY_TELEMETRY })
    binary(3, { kind: 99 })
    gateway.send({ type: 'stop', reason: 'halt', latched: true })
    binary(4)
    gateway.send({ type: 'stop_cleared' })
    binary(5)
    gateway.send({ type: 'stop', reason: 'deadman', latched: false })
    binary(6)
    control(7)
    await waitFor(() => expect(received.at(-1)).toBe(7))
    expect(received).toEqual([
      [1, 7, 8],
      { stop: 'halt', latched: true },
      [5, 7, 8],
      { stop: 'deadman', latched: false },
      [6, 7, 8],
      7,
    ])
    expect(link.stop).toBeNull()
  })

  test('that are malformed are reported', async () => {
    const { gateway, received, binary } = await createFixture()
    gateway.newest.send(Buffer.alloc(15, 1))
    for (const t of [Number.NaN, Number.POSITIVE_INFINITY]) binary(1, { t })
    binary(2)
    await waitFor(() => expect(received.at(-1)).toEqual([2, 7, 8]))
    expect(received.slice(0, -1)).toEqual([expect.any(Error), expect.any(Error), expect.any(Error)])
  })

  test('of telemetry have numbers and times, and at most the size of a frame', async () => {
    const { gateway, received, link } = await createFixture()
    expect(link.telemetryBinary(Uint8Array.of(1, 2, 3))).toBe(true)
    expect(link.telemetryBinary(new Uint8Array(65_536 - BINARY_HEADER_BYTES))).toBe(true)
    expect(link.telemetryBinary(new Uint8Array(65_536))).toBe(false)
    expect(received).toEqual([expect.any(RangeError)])
    await waitFor(() => expect(gateway.binaries).toHaveLength(2))
    const [first, second] = gateway.binaries.map((frame) => decodeBinaryHeader(frame)!)
    expect(first).toMatchObject({ kind: BINARY_TELEMETRY, flags: 0, ttlMs: 0 })
    expect([...gateway.binaries[0]!.subarray(BINARY_HEADER_BYTES)]).toEqual([1, 2, 3])
    expect(second!.seq).toBeGreaterThan(first!.seq)
    expect(second!.t).toBeGreaterThanOrEqual(first!.t)
    expect(Math.abs(first!.t - Date.now())).toBeLessThan(60_000)
    await link.close()
    expect(link.telemetryBinary(Uint8Array.of(1))).toBe(false)
  })
})

describe('the speed limits', () => {
  const limits = (speed_scale: unknown, reason: string | null = 'latency') => ({
    type: 'limits',
    speed_scale,
    reason,
  })
  /** Returns a function that sends commands, numbered from 1. */
  const commandsTo = (gateway: RobotGateway) => {
    let seq = 0
    return (data: unknown, speed_scale?: number) =>
      gateway.send({
        type: 'control',
        session_id: sessionId,
        seq: ++seq,
        t: performance.now(),
        ttl_ms: 60_000,
        data,
        ...(speed_scale && { speed_scale }),
      })
  }

  test('slow down the commands that no earlier party has slowed down', async () => {
    const received: unknown[] = []
    const { gateway, link } = await createFixture({
      onControl: ({ seq, data, speed_scale }) => received.push([seq, data, speed_scale]),
      onLimits: ({ speed_scale, reason }) => received.push([speed_scale, reason]),
    })
    const control = commandsTo(gateway)
    control({ linear: 1 })
    gateway.send(limits(0.5))
    gateway.send(limits(0.5))
    control({ linear_mps: 1, angular_radps: -2, gripper: 1 })
    control({ linear: { x: 1, y: 0, z: 'up' }, angular: [1, 2, 3] }, 1)
    control({ linear: [1, 2, 3, 4], angular: null })
    control({ linear: 0.3 }, 0.3)
    control({ linear: 0.8 }, 0.8)
    control([1, 2])
    gateway.send(limits(1, null))
    control({ linear: 0.5 }, 0.5)
    await waitFor(() => expect(received).toHaveLength(10))
    expect(received).toEqual([
      [1, { linear: 1 }, undefined],
      [0.5, 'latency'],
      [2, { linear_mps: 0.5, angular_radps: -1, gripper: 1 }, 0.5],
      // Speeds that cannot be read are not declared as slowed down.
      [3, { linear: { x: 0.5, y: 0, z: 'up' }, angular: [0.5, 1, 1.5] }, 1],
      [4, { linear: [1, 2, 3, 4], angular: null }, undefined],
      [5, { linear: 0.3 }, 0.3],
      [6, { linear: 0.5 }, 0.5],
      [7, [1, 2], undefined],
      [1, null],
      [8, { linear: 0.5 }, 0.5],
    ])
    expect(link.limits).toEqual({ speed_scale: 1, reason: null })
  })

  test('clamp the speeds of the control schema, and commands that it does not allow stop the robot', async () => {
    const number = { type: 'number', minimum: -2, maximum: 2 } as const
    const received: unknown[] = []
    const { gateway, link } = await createFixture({
      controlSchema: {
        type: 'object',
        properties: { speed: { ...number, 'x-speed': true, 'x-unit': 'm/s' }, height: number },
        required: ['speed'],
      },
      onControl: ({ seq, data }) => received.push([seq, data]),
      onInvalidControl: (seq, problem) => received.push([seq, problem]),
      onStop: ({ reason }) => received.push(reason),
    })
    const control = commandsTo(gateway)
    control({ height: 1 })
    control({ speed: 2, height: 2 })
    gateway.send(limits(0.5))
    control({ speed: -2, height: 2 })
    control({ speed: 0.7 })
    control({ speed: 'fast' })
    control({ speed: 1, height: 3 })
    await waitFor(() => expect(received).toHaveLength(7))
    expect(received).toEqual([
      [1, expect.stringMatching(/^speed: /)],
      [2, { speed: 2, height: 2 }],
      [3, { speed: -1, height: 2 }],
      [4, { speed: 0.7 }],
      [5, expect.stringMatching(/^speed: /)],
      'invalid_command',
      [6, expect.stringMatching(/^height: /)],
    ])
    await link.close()
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } } as never
    expect(() => new RobotLink({ url: gateway.url, token: 't', controlSchema: schema })).toThrow(
      'Invalid input',
    )
  })

  test('are those of the welcome or the session, and the lowest ones if they are unreadable', async () => {
    const seen: number[] = []
    const { gateway, received, link, control } = await createFixture({
      onLimits: ({ speed_scale }) => seen.push(speed_scale),
    })
    gateway.welcome = { ...gateway.welcome, limits: { speed_scale: 0.4, reason: 'latency' } }
    gateway.newest.terminate()
    await waitFor(() => expect(link.limits.speed_scale).toBe(0.4))
    gateway.send({ type: 'session', ...session, status: 'PAUSED' })
    control(1)
    await waitFor(() => expect(received.at(-1)).toBe(1))
    expect(seen).toEqual([0.4])
    gateway.send({ type: 'session', ...session, session_id: otherSessionId })
    for (const malformed of [0, 2, 'half']) gateway.send(limits(malformed))
    await waitFor(() => expect(link.limits).toEqual({ speed_scale: 0.05, reason: 'unreadable limits' }))
    expect(seen).toEqual([0.4, 1, 0.05])
  })
})

test('a control frame that cannot be read stops the robot, which obeys the next one', async () => {
  const { gateway, received, control } = await createFixture()
  control(1)
  gateway.send({ type: 'control', session_id: sessionId, seq: 2, t: 'now', ttl_ms: 250, data: {} })
  control(3)
  await waitFor(() => expect(received.at(-1)).toBe(3))
  expect(received).toEqual([1, { stop: 'invalid_command', latched: false }, 3])
})

describe('the watchdog', () => {
  const watchdog = { stop: 'watchdog', latched: false }

  test('stops a moving robot once when control frames stop arriving; the robot obeys the next frame', async () => {
    const { gateway, received, link, control, binary } = await createFixture({}, 40)
    control(1)
    await waitFor(() => expect(received).toEqual([1, watchdog]))
    expect(link.stop).toEqual({ reason: 'watchdog', latched: false })
    await waitFor(() =>
      expect(gateway.framesOf('stopped')).toEqual([{ type: 'stopped', reason: 'watchdog' }]),
    )
    // Twenty heartbeats of 20 ms take more than six times the watchdog's limit.
    const beats = gateway.framesOf('heartbeat').length
    await waitFor(() => expect(gateway.framesOf('heartbeat').length).toBeGreaterThan(beats + 20))
    expect(received).toEqual([1, watchdog])
    binary(2)
    await waitFor(() => expect(received).toEqual([1, watchdog, [2, 7, 8], watchdog]))
  })

  test('does not stop a robot that has not moved or is already stopped', async () => {
    const { gateway, received, control } = await createFixture({}, 40)
    const beatsPass = async () => {
      const beats = gateway.framesOf('heartbeat').length
      await waitFor(() => expect(gateway.framesOf('heartbeat').length).toBeGreaterThan(beats + 10))
    }
    await beatsPass()
    expect(received).toEqual([])
    control(1)
    gateway.send({ type: 'stop', reason: 'deadman', latched: false })
    await beatsPass()
    expect(received).toEqual([1, { stop: 'deadman', latched: false }])
    gateway.newest.terminate()
    await waitFor(() => expect(received.at(-1)).toBe('offline'))
    expect(received).toHaveLength(3)
  })

  test('stops a moving robot at once when its connection is lost or closed', async () => {
    const lost = { stop: 'link_lost', latched: false }
    const { gateway, received, link, control } = await createFixture()
    control(1)
    await waitFor(() => expect(received).toEqual([1]))
    gateway.newest.terminate()
    await waitFor(() => expect(received).toEqual([1, lost, 'offline']))
    await waitFor(() => expect(link).toMatchObject({ state: 'online', stop: null }))
    control(2)
    await waitFor(() => expect(received.at(-1)).toBe(2))
    await link.close()
    expect(received).toEqual([1, lost, 'offline', 2, lost, 'offline'])
  })

  test('is not fed by frames that are late', async () => {
    const { gateway, received, control } = await createFixture({}, 40)
    control(1)
    await waitFor(() => expect(received).toEqual([1]))
    let seq = 1
    const sendLate = () => control(++seq, 1_000) // less than the age of this process
    const timer = setInterval(sendLate, 10)
    try {
      await waitFor(() => expect(received).toContainEqual(watchdog))
    } finally {
      clearInterval(timer)
    }
    expect(gateway.upgrades).toBe(1)
  })
})

describe('late control', () => {
  test('is reported and not obeyed, as text or bytes; fresh control is obeyed', async () => {
    const { received, control, binary } = await createFixture({}, 300)
    control(1)
    control(2, 100)
    control(3, 600)
    binary(4, { t: performance.now() - 200, ttlMs: 0 })
    binary(5, { t: performance.now() - 1_000, ttlMs: 0 })
    binary(6, { t: performance.now() - 1_000, ttlMs: 2_000 })
    control(7)
    await waitFor(() => expect(received.at(-1)).toBe(7))
    expect(received).toEqual([
      1,
      2,
      { late: 3, byAtLeast100Ms: true },
      [4, 7, 8],
      { late: 5, byAtLeast100Ms: true },
      [6, 7, 8],
      7,
    ])
  })

  test('from a buffer is not obeyed when the buffer empties', async () => {
    const { received, control } = await createFixture()
    control(1)
    // All frames of four seconds arrive in one burst, the newest last.
    for (let seq = 2; seq <= 200; seq += 1) control(seq, 4_000 - 20 * seq)
    await waitFor(() => expect(received).toHaveLength(200))
    const obeyed = received.filter((entry) => typeof entry === 'number')
    expect(obeyed[0]).toBe(1)
    expect(obeyed[1]).toBeGreaterThan(170)
    expect(obeyed.at(-1)).toBe(200)
  })

  test('is measured again on a new connection and in a new session', async () => {
    const { gateway, received, control } = await createFixture()
    control(1)
    gateway.send({ type: 'session', ...session, session_id: otherSessionId })
    control(2, 60_000, otherSessionId)
    control(3, 120_000, otherSessionId)
    await waitFor(() => expect(received).toHaveLength(3))
    expect(received).toEqual([1, 2, { late: 3, byAtLeast100Ms: true }])
    gateway.welcome = { session: { ...session, session_id: otherSessionId } }
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.sockets).toHaveLength(2))
    control(4, 180_000, otherSessionId)
    await waitFor(() => expect(received.at(-1)).toBe(4))
  })

  test('is measured again when the numbers restart, as with another console', async () => {
    const { received, control } = await createFixture()
    for (const seq of [1, 2, 3]) control(seq)
    control(1, 60_000)
    control(2, 60_000)
    control(3, 120_000)
    await waitFor(() => expect(received).toHaveLength(6))
    expect(received).toEqual([1, 2, 3, 1, 2, { late: 3, byAtLeast100Ms: true }])
  })
})

describe('the age of frames', () => {
  const LIMIT_MS = 350
  /** Returns the ages of frames at intervals of 20 ms, each with a delay, from a clock that is off by `offsetMs`. */
  function ages(age: FrameAge, delaysMs: readonly number[], { offsetMs = 0, fromMs = 0, rate = 1 } = {}) {
    let latestMs = 0
    return delaysMs.map((delayMs, index) => {
      const sentMs = fromMs + index * 20
      // A stream delivers in order.
      latestMs = Math.max(latestMs, sentMs + delayMs)
      return age.lateMs(sentMs * rate + offsetMs, LIMIT_MS, latestMs)
    })
  }

  test('exceeds the limit only for frames with a larger delay', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: LIMIT_MS - 10 }), { maxLength: 500 }),
        fc.integer({ min: -1e12, max: 1e12 }),
        (delaysMs, offsetMs) => {
          for (const late of ages(new FrameAge(), delaysMs, { offsetMs })) expect(late).toBeNull()
        },
      ),
      { seed: 20_261_106, numRuns: 100 },
    )
  })

  test('does not grow with a clock drift of 0.2 ms per second', () => {
    const delaysMs = Array.from({ length: 180_000 }, () => 5)
    const drifted = ages(new FrameAge(), delaysMs, { rate: 1 - 0.000_199 })
    expect(drifted.every((late) => late === null)).toBe(true)
  })

  test('includes the tolerated drift since the fastest frame', () => {
    const age = new FrameAge()
    age.lateMs(0, LIMIT_MS, 5)
    for (let atMs = 1_000; atMs < 60_000; atMs += 1_000) age.lateMs(atMs - 100, LIMIT_MS, atMs)
    expect(age.lateMs(60_000, LIMIT_MS, 60_000 + 5 + LIMIT_MS + 1)).toBeCloseTo(LIMIT_MS + 1)
  })

  test('is measured again for another sender whose clock is behind', () => {
    const age = new FrameAge()
    const usual = Array.from({ length: 200 }, () => 5)
    expect(ages(age, usual).every((late) => late === null)).toBe(true)
    const behind = ages(age, usual, { offsetMs: -30_000, fromMs: 10_000 })
    const obeyed = behind.indexOf(null)
    expect(obeyed, 'two seconds of frames 20 ms apart').toBe(100)
    expect(behind.slice(obeyed).every((late) => late === null)).toBe(true)
    expect(behind[0]).toBeGreaterThan(29_000)
  })

  test('of frames from a slowly draining buffer exceeds the limit until the frames are fresh', () => {
    const age = new FrameAge()
    ages(
      age,
      Array.from({ length: 100 }, () => 5),
    )
    const draining = Array.from({ length: 1_500 }, (_, index) => Math.max(5, 5_000 - index * 4))
    const late = ages(age, draining, { fromMs: 2_000 })
    draining.forEach((delayMs, index) => {
      // The fastest frame was delayed by 5 ms.
      expect(late[index] !== null, `delayed by ${delayMs}`).toBe(delayMs > LIMIT_MS + 5)
    })
  })

  test('of occasional late frames does not change the measurement', () => {
    const age = new FrameAge()
    for (let second = 0; second < 60; second += 1) {
      const nowMs = second * 1_000
      expect(age.lateMs(nowMs - (second === 0 ? 5 : 5_000), LIMIT_MS, nowMs) === null).toBe(second === 0)
    }
  })
})
