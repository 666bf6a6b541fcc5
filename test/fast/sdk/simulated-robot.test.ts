import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { BINARY_CONTROL, encodeBinaryFrame } from '@wheelhouse/protocol'
import { afterEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { SimulatedRobot } from '../../../packages/sdk/simulated-robot.ts'
import { waitFor } from '../../support/world/wait.ts'

const sessionId = '2c1f0a52-6d5c-4a87-9a0e-0f6c5d1b7e11'
const active = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type Frame = { type: string; [field: string]: unknown }

/** Starts a simulated robot on a fake gateway. The default deadman is long, because tests send single frames. */
async function createFixture(deadmanMs = 60_000) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const fixture = { frames: [] as Frame[], socket: null as WebSocket | null, seq: 0, mute: false }
  const send = (frame: Frame) => fixture.socket?.send(JSON.stringify(frame))
  server.on('connection', (socket) => {
    fixture.socket = socket
    socket.on('message', (data) => {
      fixture.frames.push(JSON.parse(String(data)) as Frame)
      send({ type: 'heartbeat_ack', seq: null, t: 1 })
    })
    if (fixture.mute) return
    send({
      type: 'welcome',
      robot_id: '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10',
      epoch: 1,
      heartbeat_interval_ms: 50,
      heartbeat_timeout_ms: 10_000,
      deadman_ms: deadmanMs,
      session: active,
      stop: null,
    })
  })
  const { port } = server.address() as AddressInfo
  const robot = new SimulatedRobot({
    url: `ws://127.0.0.1:${port}/r`,
    token: 'token',
    reconnect: { baseMs: 1 },
  })
  cleanups.push(async () => {
    await robot.close()
    for (const client of server.clients) client.terminate()
    server.close()
    await once(server, 'close')
  })
  await robot.start()
  const drive = (linear: number, angular = 0) => {
    fixture.seq += 1
    const data = { linear_mps: linear, angular_radps: angular }
    send({
      type: 'control',
      session_id: sessionId,
      seq: fixture.seq,
      t: performance.now(),
      ttl_ms: 250,
      data,
    })
  }
  const speed = () => Math.abs(robot.state.leftMps) + Math.abs(robot.state.rightMps)
  const moving = () => waitFor(() => expect(speed()).toBeGreaterThan(0.2))
  const halted = () => waitFor(() => expect(speed()).toBe(0))
  const received = (type: string) => fixture.frames.filter((frame) => frame.type === type)
  return { ...fixture, fixture, send, robot, drive, moving, halted, received, speed }
}

test('drives on commands, acknowledges them, and reports its motion as telemetry', async () => {
  const { drive, moving, received, robot } = await createFixture()
  await waitFor(() => expect(received('telemetry').length).toBeGreaterThan(0))
  expect(received('telemetry')[0]?.data).toMatchObject({ pose: { x_m: 1, y_m: 1 }, standing: true })
  expect(robot.state.leftMps).toBe(0)
  drive(0.5)
  await moving()
  await waitFor(() => {
    const sample = received('telemetry').at(-1)?.data as { pose: { x_m: number } }
    expect(sample.pose.x_m).toBeGreaterThan(1.02)
    expect(sample).toMatchObject({ standing: false, nearest_obstacle: { distance_m: expect.any(Number) } })
  })
  expect(received('ack')).toEqual([{ type: 'ack', seq: 1 }])
  expect(received('heartbeat')[0]).toMatchObject({ battery: 0.9 })
})

test('obeys the speed limits, also with a command that it follows already and with binary ones', async () => {
  const { drive, send, robot, speed, fixture } = await createFixture()
  drive(1)
  await waitFor(() => expect(speed()).toBeGreaterThan(0.6))
  send({ type: 'limits', speed_scale: 0.2, reason: 'latency' })
  await waitFor(() => expect(robot.link.limits.speed_scale).toBe(0.2))
  await waitFor(() => expect(speed()).toBeLessThanOrEqual(0.4 + 1e-9))
  const payload = Buffer.alloc(8)
  payload.writeFloatBE(1)
  fixture.seq += 1
  const header = { kind: 1, flags: 0, ttlMs: 0, seq: fixture.seq, t: performance.now() }
  fixture.socket?.send(encodeBinaryFrame(header, payload))
  await waitFor(() => expect(speed()).toBeCloseTo(0.4))
})

test('a latched stop brakes, is answered after the robot has halted, and lasts until it is cleared', async () => {
  const { drive, moving, halted, send, received, robot } = await createFixture()
  drive(0.5)
  await moving()
  send({ type: 'stop', reason: 'emergency', latched: true })
  await waitFor(() => expect(received('stopped')).toEqual([{ type: 'stopped', reason: 'emergency' }]))
  expect(robot.state).toMatchObject({ leftMps: 0, rightMps: 0 })
  drive(0.5)
  // The answer to a repeated stop proves that the robot has handled the control frame before it.
  send({ type: 'stop', reason: 'emergency', latched: true })
  await waitFor(() => expect(received('stopped')).toHaveLength(2))
  await halted()
  expect(received('ack')).toHaveLength(1)
  send({ type: 'stop_cleared' })
  drive(0.5)
  await moving()
})

test('obeys the next control frame after an unlatched stop', async () => {
  const { drive, moving, send, received } = await createFixture()
  drive(0.5)
  await moving()
  send({ type: 'stop', reason: 'deadman', latched: false })
  await waitFor(() => expect(received('stopped')).toEqual([{ type: 'stopped', reason: 'deadman' }]))
  drive(0.5)
  await moving()
})

test('brakes when control frames stop arriving, the session pauses, or the link is lost', async () => {
  const silent = await createFixture(250)
  await waitFor(() => {
    silent.drive(1)
    expect(silent.speed()).toBeGreaterThan(0.2)
  })
  await silent.halted()
  // The fake gateway sends no stop: the robot answers its own stop after it has halted.
  await waitFor(() =>
    expect(silent.received('stopped').at(-1)).toEqual({ type: 'stopped', reason: 'watchdog' }),
  )

  const paused = await createFixture()
  paused.drive(0.5)
  await paused.moving()
  paused.send({ type: 'session', ...active, status: 'PAUSED' })
  await paused.halted()

  const lost = await createFixture()
  lost.drive(0.5)
  await lost.moving()
  lost.fixture.mute = true
  lost.fixture.socket?.terminate()
  await lost.halted()
  expect(lost.robot.link.state).not.toBe('online')
  lost.fixture.mute = false
  // The pending attempt may be the muted one.
  await waitFor(() => {
    if (lost.robot.link.state !== 'online') lost.fixture.socket?.terminate()
    expect(lost.robot.link.state).toBe('online')
  })
  lost.drive(0.5)
  await lost.moving()
})

test('malformed control brakes and is not acknowledged', async () => {
  const { drive, moving, halted, send, received } = await createFixture()
  drive(0.5)
  await moving()
  send({
    type: 'control',
    session_id: sessionId,
    seq: 2,
    t: performance.now(),
    ttl_ms: 250,
    data: { linear_mps: 'fast' },
  })
  await halted()
  const warnings = () => received('log').filter(({ level }) => level === 'warn')
  await waitFor(() => expect(warnings()).toHaveLength(1))
  expect(received('ack')).toHaveLength(1)
})

test('obeys binary control, and not if it is late', async () => {
  const { fixture, moving, halted, send, received } = await createFixture()
  const payload = new Uint8Array(8)
  new DataView(payload.buffer).setFloat32(0, 0.5)
  const binary = (seq: number, t: number) =>
    fixture.socket?.send(encodeBinaryFrame({ kind: BINARY_CONTROL, flags: 0, ttlMs: 250, seq, t }, payload))
  binary(1, performance.now())
  await moving()
  await waitFor(() => expect(received('ack')).toEqual([{ type: 'ack', seq: 1 }]))
  send({ type: 'stop', reason: 'deadman', latched: false })
  binary(2, performance.now() - 1_000)
  const warnings = () => received('log').filter(({ level }) => level === 'warn')
  await waitFor(() => expect(warnings()).toHaveLength(1))
  await halted()
  expect(received('ack')).toHaveLength(1)
})

test('reports its pose during a session', async () => {
  const { send, received } = await createFixture()
  await waitFor(() => expect(received('telemetry').length).toBeGreaterThan(3))
  send({ type: 'session', ...active, status: 'COMPLETED' })
  // Five samples would be due while ten heartbeats of 50 ms pass.
  const beats = (count: number) => {
    const before = received('heartbeat').length
    return waitFor(() => expect(received('heartbeat').length).toBeGreaterThan(before + count))
  }
  await beats(2)
  const samples = received('telemetry').length
  await beats(10)
  expect(received('telemetry')).toHaveLength(samples)
})

test('reports a drive as an episode when its session ends', async () => {
  const { drive, moving, send, received } = await createFixture()
  const beforeMs = Date.now()
  drive(0.5)
  await moving()
  send({ type: 'session', ...active, status: 'PAUSED' })
  await waitFor(() => expect(received('episode')).toHaveLength(1))
  const [episode] = received('episode') as [
    Frame & { started_at: number; ended_at: number; size_bytes: number },
  ]
  expect(episode).toMatchObject({ episode_id: expect.any(String), success: true })
  expect(episode.started_at).toBeGreaterThanOrEqual(beforeMs)
  expect(episode.ended_at).toBeGreaterThan(episode.started_at)
  expect(episode.ended_at).toBeLessThanOrEqual(Date.now())
  expect(episode.size_bytes).toBeGreaterThan(100)

  send({ type: 'session', ...active })
  send({ type: 'session', ...active, status: 'COMPLETED' })
  send({ type: 'stop', reason: 'session_over', latched: true })
  await waitFor(() => expect(received('stopped')).toHaveLength(1))
  expect(received('episode'), 'no operator has driven since').toHaveLength(1)
})

test('a start inside a wall or a rate out of range is refused', () => {
  const options = { url: 'ws://127.0.0.1:1', token: 't' }
  expect(() => new SimulatedRobot({ ...options, start: { xM: 0 } })).toThrow(RangeError)
  expect(() => new SimulatedRobot({ ...options, stepHz: 0 })).toThrow(RangeError)
})

test('logs its connection, its session and each latched stop once', async () => {
  const { send, received } = await createFixture()
  const messages = () => received('log').map(({ level, message }) => `${level}: ${message}`)
  await waitFor(() => expect(messages()).toHaveLength(2))
  expect(messages()[0]).toMatch(/^info: connected, epoch \d+$/)
  expect(messages()[1]).toMatch(/^info: session active, operator /)
  for (let n = 0; n < 3; n++) send({ type: 'stop', reason: 'emergency', latched: true })
  await waitFor(() => expect(received('stopped').length).toBeGreaterThan(0))
  send({ type: 'stop_cleared' })
  send({ type: 'stop', reason: 'emergency', latched: true })
  await waitFor(() => expect(messages().slice(2)).toHaveLength(2))
  expect(messages().slice(2)).toEqual(['warn: stopped: emergency', 'warn: stopped: emergency'])
})
