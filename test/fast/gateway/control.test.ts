import { type BinaryHeader, decodeBinaryHeader, encodeBinaryFrame } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSessionFixture, performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Real sockets and a real database, once for each promise. `control-relay` has the cases, on a simulated clock.

const GRACE_MS = 1_000

let world: World
beforeAll(async () => {
  world = await createWorld({
    env: { OPERATOR_GRACE_MS: String(GRACE_MS), DEADMAN_MS: '500', HEARTBEAT_TIMEOUT_MS: '30000' },
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

test('control passes to the robot, its acknowledgement to the operator, telemetry and latencies to all', async () => {
  const { link, console, observer, first, id } = await controlledFixture()
  expect(first).toEqual({ type: 'state', status: 'ACTIVE', robot_connected: true, stop: null })

  const seq = console.control({ linear: 0.5, angular: 0 }, { ttl_ms: 2_000 })
  expect(await link.next('control')).toEqual({
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
  for (const user of [console, observer]) expect(await user.next('telemetry')).toEqual(JSON.parse(sample))
  expect(observer.frames.filter(({ type }) => type === 'ack')).toEqual([])

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

test('binary frames arrive unchanged', async () => {
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

test('a late or repeated frame is dropped, and the operator learns why; the deadman halts the robot', async () => {
  const { link, console, observer } = await controlledFixture()
  console.control({}, { seq: 5 })
  await link.next('control')
  console.control({}, { seq: 1 })
  expect(await console.next('dropped')).toEqual({ type: 'dropped', seq: 1, why: 'out_of_order' })
  console.control({}, { seq: 9, t: performance.now() - 60_000 })
  expect(await console.next('dropped')).toEqual({ type: 'dropped', seq: 9, why: 'expired' })

  expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'deadman', latched: false })
  const stop = { reason: 'deadman', latched: false, recorded: false }
  expect(await observer.state(({ stop }) => stop !== null)).toMatchObject({ stop })
  console.control({}, { seq: 10 })
  await link.next('control')
  expect(await observer.state()).toMatchObject({ stop: null })
})

describe('a stop', () => {
  test('of the operator, then of an observer, latches at once, is recorded, and is cleared and resumed in two steps', async () => {
    const { link, console, observer, operator, client, id, read } = await controlledFixture()
    for (const [requester, reason, by] of [
      [console, 'a cat', { by_role: 'operator', clearable_by: 'anyone' }],
      [observer, 'a child on the floor', { by_role: 'client', clearable_by: 'owner' }],
    ] as const) {
      console.control()
      await link.next('control')
      requester.send({ type: 'stop', reason })
      const stop = { type: 'stop', reason, latched: true }
      await waitFor(async () => expect(await link.next('stop')).toEqual(stop)) // on a slow machine after the deadman's
      link.send({ type: 'stopped', reason })
      for (const user of [console, observer]) {
        const recorded = await user.state((state) => state.stop?.recorded && state.stop.reason === reason)
        expect(recorded.stop).toEqual({ reason, latched: true, recorded: true, ...by })
      }
      expect(await console.state(({ status }) => status === 'PAUSED')).toBeTruthy()
      const seq = console.control()
      expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })
      expect(await read()).toMatchObject({ status: 'PAUSED', control: { stop: { reason } } })

      await performAction(client, id, 'clear_stop')
      await link.next('stop_cleared')
      await performAction(operator, id, 'resume')
      await console.state(({ status, stop }) => status === 'ACTIVE' && stop === null)
    }
    console.control()
    await link.next('control')
  })

  test('of the API reaches the robot and all participants', async () => {
    const { link, console, observer, client, performAction: patch } = await controlledFixture()
    expect((await patch(client, 'emergency_stop', 'smoke')).status).toBe(200)
    expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'smoke', latched: true })
    for (const user of [console, observer]) {
      await user.state(({ stop, status }) => stop?.reason === 'smoke' && status === 'PAUSED')
    }
  })
})

test('an operator who disconnects halts the robot at once; the session pauses after the grace period', async () => {
  const { link, console, observer, id, log } = await controlledFixture()
  await waitFor(async () => {
    const { driven } = await world.platform.core.db
      .selectFrom('sessions')
      .select('driven')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(driven).toBe(true)
  })
  const clock = stopWallClock()
  console.control()
  await link.next('control')
  console.destroy()
  expect(await link.next('stop')).toEqual({ type: 'stop', reason: 'operator_lost', latched: false })
  clock.advance(GRACE_MS)
  await observer.state(({ status }) => status === 'PAUSED')
  expect((await log()).at(-1)).toMatchObject({ type: 'session.paused', data: { reason: 'operator_lost' } })
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
