import { encodeBinaryFrame, encodeOrderedFrame } from '@wheelhouse/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import { exampleRobots, type StartRobot, startPythonRobot } from '../../support/examples/example-robots.ts'
import { ScriptedRobotGateway } from '../../support/examples/scripted-robot-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

// Checks the required behaviour of every robot in examples/ with a scripted gateway, because a real gateway does not
// send these frames.

const SESSION = '2c1f0a52-6d5c-4a87-9a0e-0f6c5d1b7e11'
const session = { session_id: SESSION, status: 'ACTIVE', operator_name: 'Ada' }
const forward = { linear_mps: 0.5, angular_radps: 0 }

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const item of opened.splice(0).reverse()) await item[Symbol.asyncDispose]()
})

/** Returns a control frame of an operator whose clock is an hour behind. `lateMs` is the time in transit. */
const control = (seq: number, options: { data?: unknown; lateMs?: number; session_id?: string } = {}) => ({
  type: 'control',
  session_id: options.session_id ?? SESSION,
  seq,
  ttl_ms: 250,
  t: performance.now() - 3_600_000 - (options.lateMs ?? 0),
  data: options.data ?? forward,
})

const eventually = (check: () => void) => waitFor(check)

/** Connects a robot to a scripted gateway. Both end after the test. */
async function connect(startRobot: StartRobot, welcome: Record<string, unknown> = { session }) {
  const gateway = await ScriptedRobotGateway.start()
  opened.push(gateway)
  gateway.welcome = welcome
  const robot = await startRobot(async () => ({ url: gateway.url, token: 'a.token' }))
  opened.push(robot)
  await eventually(() => expect(gateway.sockets).toHaveLength(1))
  return { gateway, robot }
}

/** Sends frames with increasing numbers from `from` until the robot moves. Returns the last number. */
async function drive(
  gateway: ScriptedRobotGateway,
  from = 1,
  frame: (seq: number) => Record<string, unknown> | Uint8Array = control,
): Promise<number> {
  let seq = from - 1
  const timer = setInterval(() => gateway.send(frame(++seq)), 40)
  try {
    await gateway.telemetry(({ velocity }) => velocity.linear_mps > 0.3)
  } finally {
    clearInterval(timer)
  }
  return seq
}

const acknowledged = (gateway: ScriptedRobotGateway) => gateway.all('ack').map(({ seq }) => seq as number)

/** Sends commands from number `from` until one is acknowledged. On a busy machine some are late. */
async function waitForAck(gateway: ScriptedRobotGateway, from: number): Promise<void> {
  let seq = from - 1
  await waitFor(() => {
    gateway.send(control(++seq, { data: { linear_mps: 0, angular_radps: 0 } }))
    expect(Math.max(...acknowledged(gateway))).toBeGreaterThanOrEqual(from)
  })
}

describe.each(Object.entries(exampleRobots))('%s', (_name, startRobot) => {
  test('sends heartbeats and telemetry, and executes and acknowledges fresh commands of its session', async () => {
    const { gateway } = await connect(startRobot)
    await gateway.telemetry(({ standing }) => standing)
    await drive(gateway)
    expect(gateway.all('ack').length).toBeGreaterThan(0)
    const beats = gateway.all('heartbeat').length
    await eventually(() => expect(gateway.all('heartbeat').length).toBeGreaterThan(beats + 2))
    const { pose } = await gateway.telemetry(({ pose }) => pose.x_m > 0.05)
    expect(pose).toMatchObject({ y_m: 0, heading_rad: 0 })
  })

  test('stops by itself when commands cease without a stop frame', async () => {
    const { gateway } = await connect(startRobot)
    await drive(gateway)
    await gateway.telemetry(({ standing }) => standing)
    expect(gateway.all('stopped')).toEqual([])
  })

  test('ignores late commands', async () => {
    const { gateway } = await connect(startRobot)
    const seq = await drive(gateway)
    await gateway.telemetry(({ standing }) => standing)
    for (let late = 1; late <= 5; late++) gateway.send(control(seq + late, { lateMs: 400 }))
    await waitForAck(gateway, seq + 6)
    expect(acknowledged(gateway).filter((ack) => ack > seq && ack < seq + 6)).toEqual([])
  })

  test('ignores commands of another session or of a paused session', async () => {
    const { gateway } = await connect(startRobot)
    await gateway.telemetry(({ standing }) => standing)
    gateway.send(control(1, { session_id: '99999999-6d5c-4a87-9a0e-0f6c5d1b7e11' }))
    gateway.send({ type: 'session', ...session, status: 'PAUSED' })
    gateway.send(control(2))
    gateway.send({ type: 'session', ...session })
    await waitForAck(gateway, 3)
    expect(acknowledged(gateway)).not.toContain(1)
    expect(acknowledged(gateway)).not.toContain(2)
  })

  test('stops on an unreadable command', async () => {
    const { gateway } = await connect(startRobot)
    const seq = await drive(gateway)
    gateway.send(control(seq + 1, { data: { linear_mps: 'fast' } }))
    await gateway.telemetry(({ standing }) => standing)
    expect(acknowledged(gateway)).not.toContain(seq + 1)
  })

  test('obeys the speed limits of the welcome and of later frames', async () => {
    const { gateway } = await connect(startRobot, {
      session,
      limits: { speed_scale: 0.2, reason: 'latency' },
    })
    let seq = 0
    const driving = setInterval(() => gateway.send(control(++seq)), 40)
    try {
      await gateway.telemetry(({ velocity }) => velocity.linear_mps > 0.05)
      await waitFor(() => expect(gateway.all('telemetry').length).toBeGreaterThan(10))
      const speeds = gateway
        .all('telemetry')
        .map(({ data }) => (data as { velocity: { linear_mps: number } }).velocity.linear_mps)
      expect(Math.max(...speeds)).toBeLessThanOrEqual(0.2)
      gateway.send({ type: 'limits', speed_scale: 1, reason: null })
      await gateway.telemetry(({ velocity }) => velocity.linear_mps > 0.3)
      gateway.send({ type: 'limits', speed_scale: 0.1, reason: 'latency' })
      await gateway.telemetry(({ velocity }) => velocity.linear_mps <= 0.1)
    } finally {
      clearInterval(driving)
    }
  })

  test('confirms a latched stop and ignores commands until it is cleared', async () => {
    const { gateway } = await connect(startRobot)
    const seq = await drive(gateway)
    gateway.send({ type: 'stop', reason: 'a person <b>fell</b>', latched: true })
    await eventually(() =>
      expect(gateway.all('stopped')).toEqual([{ type: 'stopped', reason: 'a person <b>fell</b>' }]),
    )
    gateway.send(control(seq + 1))
    gateway.send({ type: 'stop_cleared' })
    await waitForAck(gateway, seq + 2)
    expect(acknowledged(gateway)).not.toContain(seq + 1)
  })

  test('applies a stop from the welcome frame', async () => {
    const stop = { reason: 'before you came', latched: true }
    const { gateway } = await connect(startRobot, { session, stop })
    await eventually(() => expect(gateway.all('stopped')).toEqual([{ type: 'stopped', reason: stop.reason }]))
    gateway.send(control(1))
    gateway.send({ type: 'stop_cleared' })
    await waitForAck(gateway, 2)
    expect(acknowledged(gateway)).not.toContain(1)
  })

  test('stops when the connection breaks, and reconnects', async () => {
    const { gateway } = await connect(startRobot)
    await drive(gateway)
    gateway.sockets.at(-1)!.terminate()
    await eventually(() => expect(gateway.sockets).toHaveLength(2))
    await gateway.telemetry(({ standing }) => standing)
    gateway.sockets.at(-1)!.close(4503)
    await eventually(() => expect(gateway.sockets).toHaveLength(3))
    await drive(gateway)
  })

  test('leaves a silent gateway', async () => {
    const { gateway } = await connect(startRobot, { session, heartbeat_timeout_ms: 500 })
    await drive(gateway)
    gateway.answers = false
    await eventually(() => expect(gateway.sockets.length).toBeGreaterThan(1))
    await gateway.telemetry(({ standing }) => standing)
  })

  test('accepts a different operator clock on a new link', async () => {
    const { gateway } = await connect(startRobot)
    await drive(gateway)
    await gateway.telemetry(({ standing }) => standing)
    await drive(gateway, 1, (seq) => control(seq, { lateMs: 60_000 }))
  })

  test.each([4000, 4002, 4029, 4401, 4403])('does not reconnect after close code %i', async (code) => {
    const { gateway, robot } = await connect(startRobot)
    await gateway.telemetry(({ standing }) => standing)
    gateway.sockets.at(-1)!.close(code, 'enough')
    await robot.gaveUp()
    expect(gateway.sockets).toHaveLength(1)
  })
})

// Browsers do not report why an upgrade was rejected.
test.each(['examples/python/robot.py', 'wheelhouse ros run'])(
  '%s retries after 503 but not after 401',
  async (name) => {
    const gateway = await ScriptedRobotGateway.start()
    opened.push(gateway)
    gateway.refusals.push(503, 401)
    const robot = await exampleRobots[name]!(async () => ({ url: gateway.url, token: 'a.token' }))
    opened.push(robot)
    expect(await robot.gaveUp()).toContain('401')
    expect(gateway.refusals).toEqual([])
  },
)

test('examples/python/robot.py accepts binary commands', async () => {
  const { gateway } = await connect((location) => startPythonRobot(location))
  await gateway.telemetry(({ standing }) => standing)
  const payload = new Uint8Array(8)
  new DataView(payload.buffer).setFloat32(0, 0.5)
  const frame = (seq: number) =>
    encodeBinaryFrame({ kind: 1, flags: 0, ttlMs: 0, seq, t: performance.now() }, payload)
  await drive(gateway, 1, frame)
  expect(gateway.all('ack').length).toBeGreaterThan(0)
})

// Numbers exist once a data channel is answered. They apply to frames of both transports.
test('examples/python/robot.py handles numbered frames once and in their order', async () => {
  const { gateway } = await connect((location) => startPythonRobot(location))
  let order = 0
  const numbered = (seq: number) => ({ ...control(seq), order: ++order, after: 0 })
  let seq = await drive(gateway, 1, numbered)

  const latched = { type: 'stop', reason: 'a person fell', latched: true, order: ++order }
  gateway.send(latched)
  await eventually(() => expect(gateway.all('stopped')).toHaveLength(1))
  const cleared = { type: 'stop_cleared', order: ++order }
  gateway.send({ type: 'stop', reason: 'session_paused', latched: false, order: ++order })
  gateway.send(cleared) // overtaken by the stop
  gateway.send(latched) // a late copy
  seq = await drive(gateway, seq + 1, numbered)

  const ignored = [++seq, ++seq]
  const sessionOrder = ++order
  gateway.send({ ...control(ignored[0]!), order: 1, after: 0 }) // overtaken
  gateway.send({ ...control(ignored[1]!), order: ++order, after: sessionOrder }) // before its session
  gateway.send({ type: 'session', ...session, order: sessionOrder })
  const first = seq + 1
  await waitFor(() => {
    const command = { ...control(++seq), order: ++order, after: sessionOrder }
    gateway.send(command)
    gateway.send(command) // a copy
    expect(Math.max(...acknowledged(gateway))).toBeGreaterThanOrEqual(first)
  })
  const acks = acknowledged(gateway)
  expect(acks.filter((ack) => ignored.includes(ack))).toEqual([])
  expect(new Set(acks).size).toBe(acks.length)
})

test('examples/python/robot.py accepts numbered binary commands', async () => {
  const { gateway } = await connect((location) => startPythonRobot(location))
  await gateway.telemetry(({ standing }) => standing)
  const payload = new Uint8Array(8)
  new DataView(payload.buffer).setFloat32(0, 0.5)
  const frame = (seq: number) => {
    const header = { kind: 1, flags: 0, ttlMs: 0, seq, t: performance.now() - 3_600_000 } // as in `control`
    const command = encodeBinaryFrame(header, payload)
    return encodeOrderedFrame({ order: seq, after: 0 }, command)
  }
  const seq = await drive(gateway, 1, frame)
  gateway.send(frame(seq)) // a copy
  await waitForAck(gateway, seq + 1)
  expect(new Set(acknowledged(gateway)).size).toBe(acknowledged(gateway).length)
})
