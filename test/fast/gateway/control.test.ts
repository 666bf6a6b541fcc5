import { type BinaryHeader, decodeBinaryHeader, encodeBinaryFrame } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSessionFixture, performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const GRACE_MS = 1_000

let world: World
beforeAll(async () => {
  world = await createWorld({
    env: { OPERATOR_GRACE_MS: String(GRACE_MS), DEADMAN_MS: '1000', HEARTBEAT_TIMEOUT_MS: '30000' },
  })
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** Opens a session whose operator and owner are connected to the gateway. */
async function controlledFixture() {
  const fixture = await openSessionFixture(world)
  await fixture.link.next('session')
  const operator = await world.drive(fixture.operator, fixture.id)
  const observer = await world.drive(fixture.client, fixture.id, 'watch')
  const first = await operator.state()
  await observer.state()
  return { ...fixture, console: operator, observer, first }
}

describe('an operator', () => {
  test('receives the state, sends control, and receives acknowledgements and telemetry', async () => {
    const { link, console, observer, first, id } = await controlledFixture()
    expect(first).toEqual({ type: 'state', status: 'ACTIVE', robot_connected: true, stop: null })

    const seq = console.control({ linear: 0.5, angular: 0 }, { ttl_ms: 2_000 })
    const control = await link.next('control')
    expect(control).toEqual({
      type: 'control',
      session_id: id,
      seq,
      ttl_ms: expect.any(Number), // the rest of 2,000 ms
      t: expect.any(Number),
      data: { linear: 0.5, angular: 0 },
    })
    link.send({ type: 'ack', seq })
    expect(await console.next('ack')).toEqual({ type: 'ack', seq })

    const sample = '{"type":"telemetry","data":{"x":1.50,"name":"Zoë"},"extra":1}'
    link.send(sample)
    for (const user of [console, observer]) {
      expect(await user.next('telemetry')).toEqual(JSON.parse(sample))
    }
    expect(observer.frames.filter(({ type }) => type === 'ack')).toEqual([])
  })

  test('sends binary frames, which arrive unchanged', async () => {
    const { link, console, observer } = await controlledFixture()
    const payload = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
    const header = { kind: 1, flags: 3, ttlMs: 10_000, seq: 4_000_000_000, t: performance.now() }
    console.send(encodeBinaryFrame(header, payload))
    const received = (await link.next('binary')).data
    const { ttlMs } = decodeBinaryHeader(received) as BinaryHeader
    expect(ttlMs).toBeLessThanOrEqual(10_000)
    expect(received).toEqual(Buffer.from(encodeBinaryFrame({ ...header, ttlMs }, payload)))

    const sensed = encodeBinaryFrame({ ...header, kind: 2, seq: 7 }, payload)
    link.send(sensed)
    for (const user of [console, observer]) {
      const { data } = await user.next('binary')
      expect(data).toEqual(Buffer.from(sensed))
      expect(decodeBinaryHeader(data)).toEqual({ ...header, kind: 2, seq: 7 })
    }
  })

  test('receives pongs and latencies', async () => {
    const { console, observer } = await controlledFixture()
    console.send({ type: 'ping', t: 12.5 })
    expect(await console.next('pong')).toEqual({ type: 'pong', t: 12.5, server_t: expect.any(Number) })
    for (const user of [console, observer]) {
      await waitFor(async () => {
        const { operator_ms, robot_ms } = await user.next('latency')
        expect(operator_ms).toBeGreaterThan(0)
        expect(robot_ms).toBeGreaterThan(0)
      })
    }
  })
})

describe('the deadman', () => {
  test('halts the robot once when control frames stop; the next frame moves it again', async () => {
    const { link, console, observer } = await controlledFixture()
    console.control()
    await link.next('control')
    expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'deadman', latched: false })
    const stop = { reason: 'deadman', latched: false, recorded: false }
    expect(await observer.state(({ stop }) => stop !== null)).toMatchObject({ stop })
    for (let count = 0; count < 3; count++) await console.next('latency') // three times the deadman
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])

    console.control()
    await link.next('control')
    expect(await observer.state()).toMatchObject({ stop: null })
    await link.next('stop')
  })

  test('sends nothing before the first frame and while frames arrive', async () => {
    const { link, console } = await controlledFixture()
    await console.next('latency')
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])
    const timer = setInterval(() => console.control(), 50)
    await console.next('latency')
    await console.next('latency')
    clearInterval(timer)
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])
    expect((await link.next('stop')).reason).toBe('deadman')
  })
})

describe('a dropped control frame is answered with the reason', () => {
  test.each<[string, string, Record<string, unknown>]>([
    ['a number that is not above the last one', 'out_of_order', { seq: 1 }],
    ['a frame that is older than its ttl', 'expired', { seq: 9, t: performance.now() - 60_000 }],
  ])('%s', async (_name, why, frame) => {
    const { link, console } = await controlledFixture()
    console.control({}, { seq: 5 })
    await link.next('control')
    console.control({}, frame)
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq: frame.seq, why })
    expect(link.frames.filter(({ type }) => type === 'control')).toEqual([])
  })

  test('while the session is paused', async () => {
    const { link, console, operator, id } = await controlledFixture()
    await performAction(operator, id, 'pause')
    await console.state(({ status }) => status === 'PAUSED')
    expect((await link.next('stop')).reason).toBe('session_paused')
    const seq = console.control()
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'session_paused' })
    await performAction(operator, id, 'resume')
    expect(await console.state(({ status }) => status === 'ACTIVE')).toMatchObject({ stop: null })
    console.control()
    await link.next('control')
  })

  test('while the robot is disconnected', async () => {
    const { link, console, robot } = await controlledFixture()
    link.destroy()
    await console.state((state) => !state.robot_connected)
    const seq = console.control()
    expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'robot_offline' })
    const back = (await world.connect(robot)).beat()
    await console.state((state) => state.robot_connected)
    expect(back.socket.readyState).toBe(1)
  })
})

describe('an operator who disconnects', () => {
  test('halts the robot at once; the session pauses after the grace period', async () => {
    const { link, console, observer, read, log } = await controlledFixture()
    await waitFor(async () => {
      const { rows } = await driven()
      expect(rows).toBe(true)
    })
    async function driven() {
      const row = await world.platform.core.db
        .selectFrom('sessions')
        .select('driven')
        .where('id', '=', (await read()).id)
        .executeTakeFirstOrThrow()
      return { rows: row.driven }
    }
    const clock = stopWallClock()
    console.control()
    await link.next('control')
    console.destroy()
    expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'operator_lost', latched: false })
    clock.advance(GRACE_MS)
    await observer.state(({ status }) => status === 'PAUSED')
    expect((await log()).at(-1)).toMatchObject({ type: 'session.paused', data: { reason: 'operator_lost' } })
  })

  test('and reconnects within the grace period continues', async () => {
    const { link, console, operator, id, read } = await controlledFixture()
    const clock = stopWallClock()
    console.control()
    await link.next('control')
    console.destroy()
    await link.next('stop')
    clock.advance(GRACE_MS - 1)
    const again = await world.drive(operator, id)
    expect(await again.state()).toMatchObject({ status: 'ACTIVE' })
    again.control()
    await link.next('control')
    clock.advance(GRACE_MS)
    await again.next('latency')
    await again.next('latency')
    expect((await read()).status).toBe('ACTIVE')
  })

  test('because of a second console is closed with 4000, and the robot is not halted', async () => {
    const { link, console, operator, id } = await controlledFixture()
    console.control()
    await link.next('control')
    const second = await world.drive(operator, id)
    expect(await console.closed).toBe(4000)
    await second.state()
    second.control()
    expect((await link.next('control')).seq).toBe(1)
    expect(link.frames.filter(({ reason }) => reason === 'operator_lost')).toEqual([])
  })
})

test('the end of a session halts the robot and closes the connections of all participants', async () => {
  const { link, console, observer, operator, id } = await controlledFixture()
  console.control()
  await link.next('control')
  await performAction(operator, id, 'end')
  expect(await link.next('session')).toMatchObject({ status: 'COMPLETED' })
  await waitFor(async () => expect(await link.next('stop')).toMatchObject({ reason: 'session_over' })) // on a slow machine a deadman stop may precede it
  expect(await console.closed).toBe(4410)
  expect(await observer.closed).toBe(4410)
})
