import { encodeBinaryFrame } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlFixture } from '../../support/gateway/control-fixture.ts'
import type { TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'
import { start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const UNKNOWN = { type: 'limits', speed_scale: 0.05, reason: 'latency_unknown' }
const FULL = { type: 'limits', speed_scale: 1, reason: null }

describe('under a simulated clock, with a budget of 100 ms', () => {
  const { open: openSession, robot, join } = simulateControl()
  let fixture: ControlFixture
  const open = async (latencyBudgetMs: number | null = 100) => {
    fixture = await openSession({ latencyBudgetMs })
  }
  /** Returns what the robot has received since the last call: the speeds of commands, and the allowed speeds. */
  const received = () =>
    robot()
      .received.splice(0)
      .map((frame) =>
        'data' in frame ? { linear: frame.data.linear, speed_scale: frame.speed_scale } : frame,
      )

  test('the robot creeps until both sides have answered a ping, within a tenth of a second', async () => {
    await open()
    const operator = await join()
    expect(operator.limits).toEqual([UNKNOWN])
    operator.socket.answersPings = false
    fixture.control(operator)
    await fixture.pass(100)
    fixture.control(operator)
    expect(received()).toEqual([
      UNKNOWN,
      { linear: 0.05, speed_scale: 0.05 },
      { linear: 0.05, speed_scale: 0.05 },
    ])
    operator.socket.answersPings = true
    await fixture.pass(100)
    fixture.control(operator)
    expect(received()).toEqual([FULL, { linear: 1, speed_scale: undefined }])
    expect(operator.limits).toEqual([UNKNOWN, FULL])
  })

  test('a late command is slowed down itself; the speed rises when commands were fast for one to two seconds', async () => {
    await open()
    const [operator, observer] = [await join(), await join('watch')]
    await fixture.pass(1_000)
    fixture.control(operator)
    received()
    fixture.control(operator, { delayMs: 190 })
    const half = { type: 'limits', speed_scale: 0.5, reason: 'latency' }
    expect(received()).toEqual([half, { linear: 0.5, speed_scale: 0.5 }])
    for (const participant of [operator, observer]) expect(participant.limits.at(-1)).toEqual(half)

    fixture.control(operator)
    await fixture.pass(900)
    fixture.control(operator)
    expect(received()).toEqual([
      { linear: 0.5, speed_scale: 0.5 },
      { linear: 0.5, speed_scale: 0.5 },
    ])
    await fixture.pass(1_200)
    fixture.control(operator)
    expect(received()).toEqual([FULL, { linear: 1, speed_scale: undefined }])
    const late = await join('watch')
    expect(late.limits).toEqual([FULL])
  })

  test('a scale that the operator has applied is not applied again', async () => {
    await open()
    const operator = await join()
    await fixture.pass(1_000)
    fixture.control(operator)
    fixture.control(operator, { delayMs: 190 })
    received()
    for (const speedScale of [0.3, 0.5, 0.8, 1]) fixture.control(operator, { speedScale })
    expect(received()).toEqual([
      { linear: 0.3, speed_scale: 0.3 },
      { linear: 0.5, speed_scale: 0.5 },
      { linear: expect.closeTo(0.5, 9), speed_scale: 0.5 },
      { linear: 0.5, speed_scale: 0.5 },
    ])
  })

  test('a frame that waits for a robot that does not read is slowed down again if the scale falls before it is sent', async () => {
    await open()
    const operator = await join()
    await fixture.pass(1_000)
    fixture.control(operator)
    robot().socket.pause()
    fixture.control(operator) // queued: it blocks the robot
    fixture.control(operator) // waits
    received()
    fixture.book.setLatencyBudget(50)
    await fixture.pass(10)
    robot().socket.resume()
    expect(received()).toEqual([UNKNOWN, { linear: 0.05, speed_scale: 0.05 }])
  })

  test('a value of a command that the robot has never had is no reference for its rate', async () => {
    fixture = await openSession({
      latencyBudgetMs: null,
      controlSchema: { type: 'object', properties: { linear: { type: 'number', 'x-max-rate': 1 } } },
    })
    const operator = await join()
    await fixture.pass(1_000)
    fixture.control(operator, { speedScale: 0.1 })
    robot().socket.pause()
    fixture.control(operator, { speedScale: 0.1 }) // queued: it blocks the robot
    received()
    for (let waiting = 0; waiting < 5; waiting++) {
      await fixture.pass(40)
      fixture.control(operator)
    }
    robot().socket.resume()
    expect(received()).toEqual([{ linear: 0.2, speed_scale: undefined }])
  })

  test('without a budget nothing is sent or changed, until the owner sets one, and again after it is removed', async () => {
    await open(null)
    const operator = await join()
    await fixture.pass(1_000)
    fixture.control(operator)
    fixture.control(operator, { delayMs: 200 })
    const full = { linear: 1, speed_scale: undefined }
    expect(received()).toEqual([full, full])
    expect(operator.limits).toEqual([])

    fixture.book.setLatencyBudget(100)
    await fixture.pass(200)
    expect(received()).toEqual([UNKNOWN, FULL])
    fixture.control(operator, { delayMs: 200 })
    expect(received()).toEqual([
      { type: 'limits', speed_scale: 0.5, reason: 'latency' },
      { linear: 0.5, speed_scale: 0.5 },
    ])
    fixture.book.setLatencyBudget(null)
    await fixture.pass(50)
    fixture.control(operator)
    expect(received()).toEqual([FULL, full])
  })
})

describe('over sockets', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '30000', DEADMAN_MS: '5000' } })
  })
  afterAll(async () => await world[Symbol.asyncDispose]())

  const dropOf = async (console: TestDriver, data: unknown) => {
    console.control(data)
    return (await console.next('dropped')).why
  }

  const untilScale = async (link: TestDriver | TestRobot, isReached: (scale: number) => boolean) => {
    for (;;) {
      const { speed_scale } = await link.next('limits')
      if (isReached(speed_scale)) return
    }
  }

  test('a robot with a budget is slowed down, also for an operator who knows nothing of it, and the session records it', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client, { latency_budget_ms: 5_000 })
    await tolerateLatency(world, robot.id)
    const link = (await world.connect(robot)).beat()
    const id = await start(operator, robot.id)
    await link.next('session')
    const console = await world.drive(operator, id)
    await console.state()
    await untilScale(console, (scale) => scale === 1)
    console.control({ linear: { x: 1, y: -2, z: 0 }, angular: [0.5, 'fast'], gripper: 1 })
    expect(await link.next('control')).not.toHaveProperty('speed_scale')

    await client.patch(`/api/client/robots/${robot.id}`, { latency_budget_ms: 50 })
    await untilScale(console, (scale) => scale < 1)
    // Older than the first command by 300 ms: at most a sixth of the speed.
    const t = performance.now() - 300
    console.control({ linear: { x: 1, y: -2, z: 0 }, angular: [0.5, 'fast'], gripper: 1 }, { t })
    const { data, speed_scale } = await link.next('control')
    expect(speed_scale).toBeLessThanOrEqual(1 / 6)
    expect(data).toEqual({
      linear: { x: speed_scale, y: -2 * speed_scale, z: 0 }, // the gateway drops an angular speed that it cannot read
      gripper: 1,
    })
    expect(link.frames.filter(({ type }) => type === 'limits')).not.toEqual([])

    const back = (await world.connect(robot)).beat()
    await link.closed
    await waitFor(() => expect(back.frames).toContainEqual(expect.objectContaining({ type: 'limits' })))
    await client.patch(`/api/sessions/${id}`, { action: 'end' })
    await waitFor(async () => {
      const { latency } = (await client.get(`/api/sessions/${id}`)).body
      expect(latency.speed).toEqual({
        min_scale: expect.any(Number),
        mean_scale: expect.any(Number),
        limited_seconds: expect.any(Number),
        picture_limited_seconds: 0,
      })
      expect(latency.speed.mean_scale).toBeLessThanOrEqual(1)
      expect(latency.speed.min_scale).toBeLessThanOrEqual(latency.speed.mean_scale)
    })
    const metrics = await (await fetch(`${world.gatewayUrl.replace('ws', 'http')}/metrics`)).text()
    expect(metrics).toMatch(/wheelhouse_control_limited_total [1-9]/)
    expect(metrics).toContain('wheelhouse_gateway_sessions_limited 0')
  })

  test('a control schema bounds the speed, whatever the operator declares; strict mode drops other commands', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const speed = { type: 'number', minimum: -2, maximum: 2, 'x-speed': true }
    const control_schema = { type: 'object', properties: { speed, lamp: { type: 'boolean' } } }
    const robot = await world.robot(client, { latency_budget_ms: 50 })
    await client.patch(`/api/client/robots/${robot.id}`, { control_schema, strict_control: true })
    await tolerateLatency(world, robot.id)
    const link = (await world.connect(robot)).beat()
    const id = await start(operator, robot.id)
    expect((await operator.get(`/api/sessions/${id}`)).body.control_schema).toEqual(control_schema)
    const console = await world.drive(operator, id)
    await console.state()
    console.control({ speed: 0, lamp: true })
    await link.next('control')
    const t = performance.now() - 200
    console.control({ speed: 2, lamp: true }, { t, speed_scale: 0.01 })
    const { data, speed_scale } = await link.next('control')
    expect(data.speed).toBeLessThanOrEqual(2 / 4)
    expect(data).toEqual({ speed: expect.any(Number), lamp: true })
    expect(speed_scale).toBe(0.01)

    for (const [data, index] of [{ speed: 3 }, { speed: 'fast' }, [1], null].map((data, index) => [
      data,
      index,
    ]))
      expect([index, await dropOf(console, data)]).toEqual([index, 'invalid'])
    console.send(encodeBinaryFrame({ kind: 1, flags: 0, ttlMs: 0, seq: 1_000, t }, new Uint8Array(8)))
    expect(await console.next('dropped')).toMatchObject({ seq: 1_000, why: 'invalid' })
    expect(link.frames.filter(({ type }) => type === 'control' || type === 'binary')).toEqual([])

    await client.patch(`/api/client/robots/${robot.id}`, { strict_control: false, latency_budget_ms: null })
    await waitFor(async () => {
      console.control({ speed: 3 }) // dropped until the gateway knows the new settings
      expect((await link.next('control', 500)).data).toEqual({ speed: 3 })
    })
  })

  test('in strict mode a value changes no faster than its rate, and holds while its clutch is released', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client)
    const joint = { type: 'number', 'x-max-rate': 1 }
    const control_schema = {
      type: 'object',
      properties: { clutch: { type: 'boolean', 'x-clutch': true }, joint },
    }
    await client.patch(`/api/client/robots/${robot.id}`, { control_schema, strict_control: true })
    const link = (await world.connect(robot)).beat()
    const console = await world.drive(operator, await start(operator, robot.id))
    await console.state()
    const passed = async (data: unknown) => {
      console.control(data)
      return (await link.next('control')).data
    }
    expect(await passed({ clutch: true, joint: 2 })).toEqual({ clutch: true, joint: 2 })
    const { joint: moved } = await passed({ clutch: true, joint: 3 })
    expect(moved).toBeGreaterThan(2)
    expect(moved).toBeLessThanOrEqual(2.1)
    expect(await passed({ clutch: false, joint: 3 })).toEqual({ clutch: false, joint: moved })

    // The robot may have started again, in another position.
    const again = (await world.connect(robot)).beat()
    await waitFor(async () => {
      console.control({ clutch: true, joint: 9 })
      expect((await again.next('control', 500)).data).toEqual({ clutch: true, joint: 9 })
    })
  })

  test('in strict mode the robot receives the command as it was checked: of a name that occurs twice, one value', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client)
    const control_schema = { type: 'object', properties: { speed: { type: 'number', maximum: 1 } } }
    await client.patch(`/api/client/robots/${robot.id}`, { control_schema, strict_control: true })
    const link = (await world.connect(robot)).beat()
    const texts: string[] = []
    link.socket.on('message', (text) => texts.push(String(text)))
    const console = await world.drive(operator, await start(operator, robot.id))
    await console.state()
    const header = `"type":"control","seq":1,"t":${performance.now()},"ttl_ms":10000`
    console.send(`{${header},"data":{"speed":99,"sp\\u0065ed":99,"speed":0.01}}`)
    await link.next('control')
    expect(texts.find((text) => text.includes('"control"'))).toContain('"data":{"speed":0.01}}')
  })
})
