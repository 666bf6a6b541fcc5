import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const KIB = 1_024
/** The largest frame of the protocol. */
const FRAME_LIMIT = 64 * KIB

let world: World
let owner: TestUser
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Connects a new robot, and waits for its welcome. */
async function connectedRobot() {
  const robot = await world.robot(owner)
  return { robot, link: await world.connect(robot) }
}

/** Sends a heartbeat and waits for its answer: the gateway has read all earlier frames by then. */
async function roundTrip(link: TestRobot): Promise<void> {
  const seq = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  link.send({ type: 'heartbeat', seq })
  for (;;) if ((await link.next('heartbeat_ack')).seq === seq) return
}

/** Returns a telemetry frame of exactly this many bytes. */
function frameOf(bytes: number): string {
  const frame = { type: 'telemetry', data: '' }
  frame.data = 'x'.repeat(bytes - JSON.stringify(frame).length)
  return JSON.stringify(frame)
}

test('the welcome contains the identity, the timeouts and the session of a robot', async () => {
  const { robot, link } = await connectedRobot()
  await link.close()
  const again = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
  expect(await again.next('welcome')).toEqual({
    type: 'welcome',
    robot_id: robot.id,
    epoch: 2,
    heartbeat_interval_ms: 200,
    heartbeat_timeout_ms: 30_000,
    deadman_ms: 250,
    whip_url: `${world.baseUrl}/api/robots/${robot.id}/whip`,
    session: null,
    stop: null,
  })
  await again.close()
})

describe('heartbeats', () => {
  test('are acknowledged with their numbers and the time, in order', async () => {
    const { link } = await connectedRobot()
    const before = Date.now()
    for (let seq = 0; seq < 50; seq++) link.send({ type: 'heartbeat', seq })
    for (let seq = 0; seq < 50; seq++) {
      const ack = await link.next('heartbeat_ack')
      expect(ack).toEqual({ type: 'heartbeat_ack', seq, t: expect.any(Number) })
      expect(ack.t).toBeGreaterThanOrEqual(before - 1)
      expect(ack.t).toBeLessThanOrEqual(Date.now() + 1)
    }
  })

  test('without a number are acknowledged without one', async () => {
    const { link } = await connectedRobot()
    link.send({ type: 'heartbeat' })
    expect(await link.next('heartbeat_ack')).toMatchObject({ seq: null })
  })

  test('may contain a battery and unknown fields', async () => {
    const { link } = await connectedRobot()
    link.send({ type: 'heartbeat', seq: 7, battery: 0.5, mood: 'fine' })
    expect(await link.next('heartbeat_ack')).toMatchObject({ seq: 7 })
  })

  test('beyond 50 a second are answered together, with the number and the time of the newest one', async () => {
    const { robot, link } = await connectedRobot()
    const { link: other } = await connectedRobot()
    const coalesced = async () => {
      const page = await (await fetch(`${world.baseUrl}/metrics`)).text()
      return Number(/^wheelhouse_heartbeats_coalesced_total (\d+)$/m.exec(page)?.[1])
    }
    const before = await coalesced()
    for (let seq = 0; seq < 500; seq++) link.send({ type: 'heartbeat', seq })
    await roundTrip(other)
    const answers: { seq: number; t: number }[] = []
    do answers.push(await link.next('heartbeat_ack'))
    while (answers.at(-1)?.seq !== 499)
    const seqs = answers.map(({ seq }) => seq)
    expect(seqs.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, seq) => seq))
    expect(seqs).toEqual(seqs.toSorted((first, second) => first - second))
    expect(answers.length).toBeLessThan(500)
    expect((await coalesced()) - before).toBe(500 - answers.length)
    expect(link.socket.readyState).toBe(WebSocket.OPEN)
    // None is lost: the newest one is persisted.
    await waitFor(async () => {
      const { body } = await owner.get(`/api/client/robots/${robot.id}`)
      expect(Date.parse(body.last_heartbeat)).toBe(answers.at(-1)?.t)
    })
    await roundTrip(link)
  })

  test('that are sent before the welcome are acknowledged after it', async () => {
    const robot = await world.robot(owner)
    const link = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    link.socket.on('open', () => {
      for (let seq = 1; seq <= 10; seq++) link.send({ type: 'heartbeat', seq })
    })
    await waitFor(() => expect(link.frames).toHaveLength(11))
    expect(link.frames.map(({ type, seq }) => [type, seq])).toEqual([
      ['welcome', undefined],
      ...Array.from({ length: 10 }, (_, index) => ['heartbeat_ack', index + 1]),
    ])
    await link.close()
  })
})

test.each(['telemetry', 'log', 'ack', 'stopped'])(
  'a valid %s frame is accepted without an answer',
  async (type) => {
    const { link } = await connectedRobot()
    link.send({ type, data: { x: 1 }, level: 'info', message: 'hello', seq: 1, reason: 'asked' })
    await roundTrip(link)
    expect(link.frames).toEqual([])
  },
)

test('frames of unknown types are ignored', async () => {
  const { link } = await connectedRobot()
  for (let n = 0; n < 20; n++) link.send({ type: `from_the_future_${n}`, seq: 'what', data: [] })
  link.send({ type: '__proto__' })
  await roundTrip(link)
  expect(link.frames).toEqual([])
})

describe('malformed frames', () => {
  test.each([
    ['text that is not JSON', 'hello'],
    ['truncated JSON', '{"type":"heartbeat"'],
    ['an empty frame', ''],
    ['an array', '[{"type":"heartbeat"}]'],
    ['a string', '"heartbeat"'],
    ['null', 'null'],
    ['a frame without a type', '{"seq":1}'],
    ['a type that is not a string', '{"type":1}'],
    ['an ack without a number', { type: 'ack' }],
    ['a stop without a reason', { type: 'stopped' }],
    ['an episode without an id', { type: 'episode', started_at: 0, ended_at: 1, size_bytes: 1 }],
  ])('%s is answered with an error, and closes no connection', async (_name, frame) => {
    const { link } = await connectedRobot()
    link.send(frame)
    expect(await link.next('error')).toEqual({ type: 'error', message: expect.stringMatching(/\S/) })
    await roundTrip(link)
    expect(link.frames).toEqual([])
  })

  test('in a row close the connection with 4002', async () => {
    const { robot, link } = await connectedRobot()
    for (let n = 0; n < 10; n++) link.send('nonsense')
    expect(await link.closed).toBe(4002)
    expect(link.frames.filter(({ type }) => type === 'error').length).toBeGreaterThanOrEqual(2)
    await waitFor(async () => {
      expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('OFFLINE')
    })
  })
})

describe('large frames', () => {
  test('one of exactly 64 KiB is accepted', async () => {
    const { link } = await connectedRobot()
    link.send(frameOf(FRAME_LIMIT))
    await roundTrip(link)
    expect(link.frames).toEqual([])
  })

  test.each([
    ['text', frameOf(FRAME_LIMIT + 1)],
    ['binary', Buffer.alloc(FRAME_LIMIT + 1)],
  ])(
    'a %s frame just over 64 KiB is answered with an error, and closes no connection',
    async (_kind, frame) => {
      const { link } = await connectedRobot()
      link.socket.send(frame)
      expect((await link.next('error')).message).toContain(String(FRAME_LIMIT))
      await roundTrip(link)
    },
  )

  test('one far over the limit closes the connection', async () => {
    const { link } = await connectedRobot()
    link.socket.send(frameOf(1_000 * KIB))
    expect(await link.closed).not.toBe(1000)
  })
})

test('frames beyond a megabyte a second are dropped with an error; small ones pass, and the robot stays connected', async () => {
  const { link } = await connectedRobot()
  stopWallClock() // however long they take, they arrive in one second
  for (let n = 0; n < 16; n++) link.send(frameOf(FRAME_LIMIT))
  await roundTrip(link)
  expect(link.frames).toEqual([])
  link.send(frameOf(5 * KIB))
  expect((await link.next('error')).message).toContain('bytes a second')
  await roundTrip(link)
})

test('telemetry that is not JSON is answered with an error, and never closes the connection', async () => {
  const { link } = await connectedRobot()
  for (let n = 0; n < 10; n++) {
    link.send(n % 2 ? '{"type": "telemetry", "data": {"x": NaN}}' : '{"type":"telemetry","data":{"x":[1,')
    expect((await link.next('error')).message).toContain('NaN')
  }
  await roundTrip(link)
})

test('a robot that sends too many frames is closed with 4029', async () => {
  const { link } = await connectedRobot()
  stopWallClock() // however long they take, they arrive in one second
  for (let n = 0; n < 3_000; n++) link.send({ type: 'telemetry', data: n })
  expect(await link.closed).toBe(4029)
})

test('a burst of a few hundred frames is accepted', async () => {
  const { link } = await connectedRobot()
  for (let n = 0; n < 400; n++) link.send({ type: 'telemetry', data: n })
  await roundTrip(link)
  expect(link.socket.readyState).toBe(WebSocket.OPEN)
})

test('any other path responds 404', async () => {
  const { robot } = await connectedRobot()
  const base = world.gatewayUrl.replace(/^ws/, 'http')
  for (const path of ['/', '/robots', `/robots/${robot.id}`, `/robots/${robot.id}/control/more`]) {
    const reply = await fetch(base + path)
    expect(reply.status, path).toBe(404)
    expect(await reply.json()).toEqual({ error: expect.any(String) })
  }
  expect((await fetch(`${base}/livez`)).status).toBe(200)
  expect((await fetch(`${base}/readyz`)).status).toBe(200)
})

describe("a robot's session", () => {
  async function inSession() {
    const { robot, link } = await connectedRobot()
    link.beat()
    const operator = await world.operator()
    const started = await operator.post('/api/sessions', { robotId: robot.id })
    expect(started.status).toBe(201)
    const sessionId = started.body.sessionId as string
    const performAction = async (who: TestUser, action: string) => {
      const reply = await who.patch(`/api/sessions/${sessionId}`, { action })
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    }
    const frame = (status: string) => ({
      type: 'session',
      session_id: sessionId,
      status,
      operator_name: operator.name,
    })
    return { robot, link, operator, sessionId, performAction, frame }
  }
  /** Returns the frames that a robot received, without heartbeat answers. */
  const notified = (link: TestRobot) => link.frames.filter(({ type }) => type !== 'heartbeat_ack')
  const stop = expect.objectContaining({ type: 'stop', latched: false, reason: expect.any(String) })

  test('sends start, pause, resume and end to the robot, and a stop whenever it must not move', async () => {
    const { link, operator, performAction, frame } = await inSession()
    const expected: unknown[] = [frame('ACTIVE')]
    const saw = () => waitFor(() => expect(notified(link)).toEqual(expected))
    await saw()

    await performAction(owner, 'pause')
    expected.push(frame('PAUSED'), stop)
    await saw()

    await performAction(operator, 'resume')
    expected.push(frame('ACTIVE'))
    await saw()

    await performAction(operator, 'end')
    expected.push(frame('COMPLETED'), stop)
    await saw()
  })

  test('sends an end during a pause', async () => {
    const { link, performAction, frame } = await inSession()
    await performAction(owner, 'pause')
    await performAction(owner, 'end')
    await waitFor(() => expect(notified(link)).toContainEqual(frame('COMPLETED')))
    expect(notified(link)).toContainEqual(stop)
  })

  test('precedes the next session of the robot, also if that starts at once', async () => {
    const { robot, link, operator, performAction, frame } = await inSession()
    await waitFor(() => expect(notified(link)).toContainEqual(frame('ACTIVE')))
    await performAction(operator, 'end')
    const second = await operator.post('/api/sessions', { robotId: robot.id })
    expect(second.status).toBe(201)
    const next = { ...frame('ACTIVE'), session_id: second.body.sessionId }
    await waitFor(() => expect(notified(link).at(-1)).toEqual(next))
    expect(notified(link)).toContainEqual(frame('COMPLETED'))
    await operator.patch(`/api/sessions/${second.body.sessionId}`, { action: 'end' })
  })

  test('is part of the welcome when the robot reconnects', async () => {
    const { robot, sessionId, operator, performAction } = await inSession()
    const again = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    const session = { session_id: sessionId, operator_name: operator.name }
    expect((await again.next('welcome')).session).toEqual({ ...session, status: 'ACTIVE' })

    await performAction(owner, 'pause')
    await again.next('session')
    const third = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    expect((await third.next('welcome')).session).toEqual({ ...session, status: 'PAUSED' })
    await performAction(owner, 'end')
    await third.next('session')
    await third.close()
  })
})
