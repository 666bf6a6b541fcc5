import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Context } from '../../../packages/cli/lib/context.ts'
import { loadSource, RosAgent } from '../../../packages/cli/ros/agent.ts'
import { parseConfig } from '../../../packages/cli/ros/config.ts'
import { init } from '../../../packages/cli/ros/init.ts'
import { ScriptedRobotGateway } from '../../support/examples/scripted-robot-gateway.ts'
import { type FakeRos, listen, odometry, startFoxglove, startRosbridge } from '../../support/ros/fake-ros.ts'
import { waitFor } from '../../support/world/wait.ts'

// The agent between a scripted gateway and stand-ins for the bridges of ROS.

const SESSION = '2c1f0a52-6d5c-4a87-9a0e-0f6c5d1b7e11'
const session = { session_id: SESSION, status: 'ACTIVE', operator_name: 'Ada' }
const forward = { linear_mps: 0.5, angular_radps: -0.2 }

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const item of opened.splice(0).reverse()) await item[Symbol.asyncDispose]()
})

const BASE = `
control:
  - topic: /cmd_vel
    type: geometry_msgs/Twist
    fields: { linear.x: linear_mps, angular.z: angular_radps }
telemetry:
  - { topic: /odom, type: nav_msgs/Odometry, rate_hz: 50 }
  - { topic: /scan, type: sensor_msgs/LaserScan }
  - { topic: /battery_state, type: sensor_msgs/BatteryState }
logs:
  - { topic: /rosout, type: rcl_interfaces/Log }
goal:
  topic: /goal_pose
  cancel_service: /navigate_to_pose/_action/cancel_goal
  status_topic: /navigate_to_pose/_action/status
`

interface Setup {
  readonly ros: FakeRos
  readonly settings?: string
  readonly welcome?: Record<string, unknown>
}

/** Connects the agent to both sides. Everything ends after the test. */
async function connect({ ros, settings = BASE, welcome = { session } }: Setup) {
  const gateway = await ScriptedRobotGateway.start()
  opened.push(gateway)
  gateway.welcome = welcome
  const config = parseConfig(`source: { type: ${ros.type}, url: "${ros.url}" }\n${settings}`, 'robot.yaml')
  const lines: string[] = []
  const agent = new RosAgent({
    url: gateway.url,
    token: 'a.token',
    config,
    createSource: await loadSource(ros.type),
    reconnect: { baseMs: 20, maxMs: 100 },
    PeerConnection: null,
    onLine: (level, line) => void lines.push(`${level}: ${line}`),
  })
  const close = () => agent.close()
  opened.push({ [Symbol.asyncDispose]: close })
  agent.start()
  await waitFor(() => expect(gateway.sockets).toHaveLength(1))
  return { gateway, agent, lines, close }
}

/** Returns a control frame. */
const control = (seq: number, data: unknown = forward) => ({
  type: 'control',
  session_id: SESSION,
  seq,
  ttl_ms: 60_000,
  t: performance.now(),
  data,
})

/** Returns a goal frame. */
const goal = (seq: number, goalId = `goal-${seq}`, frame = 'map') => ({
  type: 'goal',
  session_id: SESSION,
  seq,
  ttl_ms: 60_000,
  t: performance.now(),
  goal_id: goalId,
  frame,
  x: 2,
  y: -1,
  heading: Math.PI,
})

/** Waits for what the robot reports about itself. */
const reports = (gateway: ScriptedRobotGateway, report: object) =>
  waitFor(() => expect(gateway.all('autonomy').at(-1)).toMatchObject(report))
const manual = { mode: 'manual', goal_frame: 'map' }
const active = (goalId: string) => ({
  mode: 'autonomous',
  goal_frame: 'map',
  goal: { goal_id: goalId, status: 'active', x: 2, y: -1, heading: Math.PI },
})
const ended = (goalId: string, status: string) => ({ ...manual, goal: { goal_id: goalId, status } })
const cancels = (ros: FakeRos) => ros.calls.filter(({ service }) => service.endsWith('cancel_goal')).length

/** Sends the statuses of the planner's goals, in pairs of an id and a status. */
function sendStatuses(ros: FakeRos, ...statuses: (readonly [id: number, status: number])[]): void {
  const uuidOf = (id: number) => Buffer.alloc(16, id)
  ros.send('/navigate_to_pose/_action/status', {
    status_list: statuses.map(([id, status]) => ({
      goal_info: {
        goal_id: { uuid: ros.type === 'foxglove' ? uuidOf(id) : uuidOf(id).toString('base64') },
        stamp: { sec: 1, nanosec: 0, nsec: 0 },
      },
      status,
    })),
  })
}
const [EXECUTING, SUCCEEDED, ABORTED] = [2, 4, 6]

/** Sends a command repeatedly, so that no deadman halts the robot, until the returned function is called. */
function keepSending(gateway: ScriptedRobotGateway, data: unknown = forward, from = 1) {
  let seq = from - 1
  const timer = setInterval(() => gateway.send(control(++seq, data)), 20)
  opened.push({ [Symbol.asyncDispose]: async () => clearInterval(timer) })
  return () => {
    clearInterval(timer)
    return seq
  }
}

const speedOf = (ros: FakeRos): number => ros.published('/cmd_vel').at(-1)?.linear.x
const moves = (ros: FakeRos) => waitFor(() => expect(speedOf(ros)).toBe(0.5))
const halts = (ros: FakeRos) => waitFor(() => expect(speedOf(ros)).toBe(0))
const acks = (gateway: ScriptedRobotGateway) => gateway.all('ack').map(({ seq }) => seq as number)

async function start(startRos: (port?: number) => Promise<FakeRos>, port?: number): Promise<FakeRos> {
  const ros = await startRos(port)
  opened.push(ros)
  return ros
}

describe.each([
  ['rosbridge', startRosbridge],
  ['foxglove_bridge', (port?: number) => startFoxglove(port, 'foxglove.sdk.v1')],
  ['an older foxglove_bridge', (port?: number) => startFoxglove(port, 'foxglove.websocket.v1')],
])('a robot behind %s', (_name, startRos) => {
  test('obeys and acknowledges commands, and sends telemetry', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await gateway.telemetry(({ standing }) => standing)
    keepSending(gateway)
    await moves(ros)
    expect(ros.published('/cmd_vel').at(-1)).toEqual({
      linear: { x: 0.5, y: 0, z: 0 },
      angular: { x: 0, y: 0, z: -0.2 },
    })
    await waitFor(() => expect(acks(gateway).length).toBeGreaterThan(2))
    const sample = await gateway.telemetry(({ pose }) => pose.x_m > 0.05)
    expect(sample).toMatchObject({ velocity: { linear_mps: 0.5 }, standing: false })
  })

  test('halts when commands cease, and does not answer that as a stop', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    const stop = keepSending(gateway)
    await moves(ros)
    stop()
    await halts(ros)
    await gateway.telemetry(({ standing }) => standing)
    expect(gateway.all('stopped')).toEqual([])
  })

  test('answers a stop when the measurements say that it has halted, not before', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    keepSending(gateway)
    await moves(ros)
    ros.odometry = false
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    await halts(ros)
    // It still rolls.
    const zeros = ros.published('/cmd_vel').length
    await waitFor(() => {
      ros.send('/odom', odometry(1, 0.3))
      expect(ros.published('/cmd_vel').length, 'zeros are repeated').toBeGreaterThan(zeros + 12)
    })
    expect(gateway.all('stopped')).toEqual([])
    ros.odometry = true
    await waitFor(() => expect(gateway.all('stopped')).toEqual([{ type: 'stopped', reason: 'smoke' }]))
    expect(speedOf(ros), 'commands do not pass the latched stop').toBe(0)
  })

  test('is online while ROS is gone, obeys nothing, and answers a stop when ROS has come back', async () => {
    const ros = await start(startRos)
    const { gateway, lines } = await connect({ ros })
    const stop = keepSending(gateway)
    await moves(ros)
    await ros[Symbol.asyncDispose]()
    await waitFor(() =>
      expect(gateway.all('log').at(-1)).toMatchObject({
        level: 'error',
        message: expect.stringContaining('ROS is not reachable'),
      }),
    )
    const seq = Math.max(...acks(gateway))
    const beats = gateway.all('heartbeat').length
    await waitFor(() => expect(gateway.all('heartbeat').length).toBeGreaterThan(beats + 2))
    expect(Math.max(...acks(gateway)), 'no command is acknowledged').toBe(seq)
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    stop()
    expect(gateway.sockets, 'the robot stays online').toHaveLength(1)
    expect(lines.filter((line) => line.includes('not reachable'))).toHaveLength(1)
    expect(gateway.all('stopped')).toEqual([])
    const samples = gateway.all('telemetry').length
    const again = await start(startRos, ros.port)
    await halts(again)
    await waitFor(() => expect(gateway.all('stopped')).toEqual([{ type: 'stopped', reason: 'smoke' }]))
    await waitFor(() => expect(gateway.all('telemetry').length).toBeGreaterThan(samples))
  })

  test('halts when the platform is gone, and both connect again', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    const stop = keepSending(gateway)
    await moves(ros)
    stop()
    gateway.sockets.at(-1)!.terminate()
    await halts(ros)
    await waitFor(() => expect(gateway.sockets).toHaveLength(2))
    ros.disconnect()
    await waitFor(() => expect(ros.subscribed()).toContain('/odom'))
    keepSending(gateway)
    await moves(ros)
  })

  test('sends only finite numbers, the charge, and warnings of its log', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await waitFor(() =>
      expect(ros.subscribed()).toEqual(expect.arrayContaining(['/scan', '/battery_state', '/rosout'])),
    )
    const ranges = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, 0.01, 99]
    await waitFor(() => {
      ros.send('/battery_state', { percentage: 0.5, voltage: Number.NaN })
      ros.send('/scan', { angle_min: -1, angle_increment: 0.5, range_min: 0.1, range_max: 10, ranges })
      const { data } = gateway.all('telemetry').at(-1) as unknown as { data: Record<string, unknown> }
      expect(data).toMatchObject({
        battery: 0.5,
        scan: { angle_min_rad: -1, angle_increment_rad: 0.5, range_max_m: 10, ranges_m: [0, 0, 1.5, 0, 0] },
      })
    })
    await waitFor(() => expect(gateway.all('heartbeat').at(-1)).toMatchObject({ battery: 0.5 }))
    ros.send('/rosout', { level: 20, name: 'base', msg: 'ready' })
    ros.send('/rosout', { level: 30, name: 'base', msg: 'hot' })
    await waitFor(() =>
      expect(gateway.all('log').at(-1)).toMatchObject({ level: 'warn', message: 'base: hot' }),
    )
    expect(JSON.stringify(gateway.all('log'))).not.toContain('ready')
  })

  test('drives to a goal by its planner, until a command or a stop cancels it', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await reports(gateway, { ...manual, goal: null })
    const stop = keepSending(gateway)
    await moves(ros)
    let seq = stop()
    gateway.send(goal(++seq, 'first'))
    await reports(gateway, active('first'))
    await halts(ros) // the last speed does not go on beside the goal
    await waitFor(() => expect(ros.published('/goal_pose')).toHaveLength(1))
    expect(ros.published('/goal_pose')[0]).toMatchObject({
      header: { frame_id: 'map' },
      pose: { position: { x: 2, y: -1, z: 0 }, orientation: { z: 1 } },
    })
    expect(cancels(ros)).toBe(0)
    const stopAgain = keepSending(gateway, forward, seq + 1)
    await reports(gateway, ended('first', 'canceled'))
    await waitFor(() => expect(cancels(ros)).toBe(1))
    await moves(ros)
    seq = stopAgain()
    gateway.send(goal(++seq, 'second'))
    await reports(gateway, active('second'))
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    await reports(gateway, ended('second', 'canceled'))
    await waitFor(() => expect(cancels(ros)).toBe(2))
    await halts(ros)
    await waitFor(() => expect(gateway.all('stopped')).toHaveLength(1))
    expect(acks(gateway), 'goals are not acknowledged').not.toContain(seq)
  })

  test('gives a goal up when it is canceled, and when the session is paused', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await reports(gateway, manual)
    gateway.send(goal(1, 'first'))
    await reports(gateway, active('first'))
    const zeros = () => ros.published('/cmd_vel').length
    let before = zeros()
    gateway.send({ type: 'cancel_goal', goal_id: 'first' })
    await reports(gateway, ended('first', 'canceled'))
    await waitFor(() => expect(cancels(ros)).toBe(1))
    await waitFor(() => expect(zeros(), 'it halts').toBeGreaterThan(before + 5))
    gateway.send(goal(2, 'second'))
    await reports(gateway, active('second'))
    before = zeros()
    gateway.send({ type: 'session', ...session, status: 'PAUSED' })
    await reports(gateway, ended('second', 'canceled'))
    await waitFor(() => expect(cancels(ros)).toBe(2))
    await waitFor(() => expect(zeros(), 'it halts').toBeGreaterThan(before + 5))
  })

  test('leaves it to the planner to replace a goal: a cancellation could reach it after the new goal', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await reports(gateway, manual)
    gateway.send(goal(1, 'first'))
    gateway.send(goal(2, 'second'))
    await reports(gateway, active('second'))
    await waitFor(() => expect(ros.published('/goal_pose')).toHaveLength(2))
    const first = gateway
      .all('autonomy')
      .filter(({ goal }) => (goal as { goal_id?: string })?.goal_id === 'first')
    expect(first.map(({ goal }) => (goal as { status: string }).status)).toEqual(['active', 'canceled'])
    gateway.send({ type: 'cancel_goal', goal_id: 'second' })
    await reports(gateway, ended('second', 'canceled'))
    await waitFor(() => expect(cancels(ros), 'of both at once').toBe(1))
  })

  test('tells how the planner ends a goal, not how it ends others', async () => {
    const ros = await start(startRos)
    const { gateway, lines } = await connect({ ros })
    await reports(gateway, manual)
    await waitFor(() => expect(ros.subscribed()).toContain('/navigate_to_pose/_action/status'))
    await waitFor(() => {
      sendStatuses(ros, [1, EXECUTING])
      ros.send('/battery_state', { percentage: 0.5 })
      expect(gateway.all('heartbeat').at(-1), 'the statuses before it have arrived').toMatchObject({
        battery: 0.5,
      })
    })
    gateway.send(goal(1, 'first'))
    await reports(gateway, active('first'))
    sendStatuses(ros, [1, ABORTED])
    sendStatuses(ros, [1, ABORTED], [2, EXECUTING])
    sendStatuses(ros, [1, ABORTED], [2, SUCCEEDED])
    await reports(gateway, ended('first', 'reached'))
    const reported = gateway.all('autonomy').length
    sendStatuses(ros, [1, ABORTED], [2, ABORTED])
    gateway.send(goal(2, 'second'))
    await reports(gateway, active('second'))
    expect(gateway.all('autonomy'), 'an ended goal does not end again').toHaveLength(reported + 1)
    sendStatuses(ros, [2, SUCCEEDED], [3, ABORTED])
    await reports(gateway, {
      goal: { goal_id: 'second', status: 'failed', message: 'the planner has given up' },
    })
    expect(lines.join()).not.toContain('cannot be read')
    keepSending(gateway, forward, 3)
    await waitFor(() => expect(cancels(ros), 'a command cancels what may go on nevertheless').toBe(1))
  })

  test('accepts no goal while ROS is gone, and cancels that of before, and only then answers a stop', async () => {
    const ros = await start(startRos)
    const { gateway } = await connect({ ros })
    await reports(gateway, manual)
    gateway.send(goal(1, 'first'))
    await reports(gateway, active('first'))
    await ros[Symbol.asyncDispose]()
    const failed = { goal_id: 'first', status: 'failed', message: 'ROS is not reachable' }
    await reports(gateway, { mode: 'manual', goal_frame: null, goal: failed })
    gateway.send(goal(2, 'second'))
    await reports(gateway, { goal_frame: null, goal: { ...failed, goal_id: 'second' } })
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    const beats = gateway.all('heartbeat').length
    await waitFor(() => expect(gateway.all('heartbeat').length).toBeGreaterThan(beats + 3))
    expect(gateway.all('stopped')).toEqual([])
    const again = await start(startRos, ros.port)
    await waitFor(() => expect(gateway.all('stopped')).toEqual([{ type: 'stopped', reason: 'smoke' }]))
    expect(cancels(again)).toBe(1)
    expect(again.published('/goal_pose')).toEqual([])
    await reports(gateway, ended('second', 'failed'))
  })

  test('halts on a command that it cannot read, and does not acknowledge it', async () => {
    const ros = await start(startRos)
    const { gateway, lines } = await connect({ ros })
    const stop = keepSending(gateway)
    await moves(ros)
    const seq = stop()
    gateway.send(control(seq + 1, { linear_mps: 'fast' }))
    await halts(ros)
    await waitFor(() => expect(lines.join()).toContain('linear_mps is not a usable number'))
    expect(acks(gateway)).not.toContain(seq + 1)
  })
})

test('a goal that cannot be cancelled keeps a stop unanswered', async () => {
  const ros = await start(startFoxglove)
  const settings = BASE.replace('/_action/cancel_goal', '/hidden')
  const { gateway } = await connect({ ros, settings })
  await reports(gateway, manual)
  gateway.send(goal(1, 'first'))
  await reports(gateway, active('first'))
  gateway.send({ type: 'stop', reason: 'smoke', latched: true })
  await reports(gateway, ended('first', 'canceled'))
  await waitFor(() => expect(ros.published('/cmd_vel').length).toBeGreaterThan(12))
  const problem = { level: 'error', message: 'the goal of the robot could not be cancelled' }
  expect(gateway.all('log')).toContainEqual(expect.objectContaining(problem))
  await gateway.telemetry(({ standing }) => standing)
  expect(gateway.all('stopped')).toEqual([])
})

test('a goal in another frame fails, and a robot without a planner reports nothing', async () => {
  const ros = await start(startRosbridge)
  const { gateway } = await connect({ ros })
  await reports(gateway, manual)
  gateway.send(goal(1, 'first', 'odom'))
  await reports(gateway, {
    ...manual,
    goal: { goal_id: 'first', status: 'failed', message: 'the robot takes goals in map' },
  })
  expect(ros.published('/goal_pose')).toEqual([])
  const other = await connect({ ros, settings: BASE.replace(/goal:[\s\S]*/, '') })
  await other.gateway.telemetry(({ standing }) => standing)
  expect(other.gateway.all('autonomy')).toEqual([])
})

test('a robot without measurements answers a stop when it has got the zeros', async () => {
  const ros = await start(startRosbridge)
  const settings = BASE.replace(/telemetry:[\s\S]*logs:/, 'logs:')
  const { gateway } = await connect({ ros, settings })
  keepSending(gateway)
  await moves(ros)
  gateway.send({ type: 'stop', reason: 'smoke', latched: true })
  await waitFor(() => expect(gateway.all('stopped')).toHaveLength(1))
  expect(speedOf(ros)).toBe(0)
})

test('a robot obeys no command of another session, or of a paused one', async () => {
  const ros = await start(startRosbridge)
  const { gateway } = await connect({ ros, welcome: { session: { ...session, status: 'PAUSED' } } })
  await gateway.telemetry(({ standing }) => standing)
  gateway.send(control(1))
  gateway.send({ type: 'session', ...session })
  gateway.send({ ...control(2), session_id: '99999999-6d5c-4a87-9a0e-0f6c5d1b7e11' })
  gateway.send(control(3))
  await waitFor(() => expect(acks(gateway)).toContain(3))
  expect(acks(gateway)).toEqual([3])
})

describe('an arm', () => {
  const arm = (type: string, more = '') => `
control:
  - { topic: /arm, type: ${type}, joints: { shoulder: joints.shoulder, elbow: joints.elbow }${more} }
telemetry:
  - { topic: /joint_states, type: sensor_msgs/JointState, rate_hz: 50 }
`
  const state = (shoulder: number, elbow = 0.1) => ({
    name: ['elbow', 'shoulder'],
    position: [elbow, shoulder],
  })

  test('holds its measured position on a stop, and answers when its joints have halted', async () => {
    const ros = await start(startFoxglove)
    const { gateway } = await connect({ ros, settings: arm('trajectory_msgs/JointTrajectory') })
    await waitFor(() => expect(ros.subscribed()).toContain('/joint_states'))
    let shoulder = 0
    let speed = 0.1
    const timer = setInterval(() => {
      shoulder += speed
      ros.send('/joint_states', state(shoulder))
    }, 25)
    opened.push({ [Symbol.asyncDispose]: async () => clearInterval(timer) })
    keepSending(gateway, { joints: { shoulder: 1, elbow: 2 } })
    await waitFor(() =>
      expect(ros.published('/arm').at(-1)).toMatchObject({ joint_names: ['shoulder', 'elbow'] }),
    )
    expect([...ros.published('/arm').at(-1).points[0].positions]).toEqual([1, 2])
    await waitFor(() => expect(gateway.all('telemetry'), 'no position measured').not.toEqual([]))
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    await waitFor(() => expect(ros.published('/arm').at(-1).points[0].positions[1]).toBe(0.1))
    expect(gateway.all('stopped'), 'it still moves').toEqual([])
    speed = 0
    await waitFor(() => expect(gateway.all('stopped')).toHaveLength(1))
  })

  test('gets an empty trajectory where its position is unknown', async () => {
    const ros = await start(startRosbridge)
    const { gateway } = await connect({ ros, settings: arm('trajectory_msgs/JointTrajectory') })
    keepSending(gateway, { joints: { shoulder: 1, elbow: 2 } })
    await waitFor(() => expect(ros.published('/arm').length).toBeGreaterThan(0))
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    await waitFor(() => expect(ros.published('/arm').at(-1).points).toEqual([]))
    expect(gateway.all('stopped'), 'nobody knows whether it has halted').toEqual([])
  })

  test('with speeds gets zeros for the duration of a latched stop', async () => {
    const ros = await start(startRosbridge)
    const { gateway } = await connect({
      ros,
      settings: arm('std_msgs/Float64MultiArray', ', mode: velocity'),
    })
    keepSending(gateway, { joints: { shoulder: 1, elbow: 2 } })
    await waitFor(() => expect(ros.published('/arm').at(-1)).toEqual({ data: [1, 2] }))
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    const zeros = () => ros.published('/arm').filter(({ data }) => data.every((value: number) => value === 0))
    await waitFor(() => expect(zeros().length).toBeGreaterThan(12))
  })

  test('halts to the end while commands move nothing', async () => {
    const ros = await start(startRosbridge)
    const { gateway } = await connect({ ros, settings: arm('std_msgs/Float64MultiArray') })
    const stop = keepSending(gateway, { joints: { shoulder: 1, elbow: 2 } })
    await waitFor(() => expect(ros.published('/arm').at(-1)).toEqual({ data: [1, 2] }))
    const seq = stop()
    gateway.send({ type: 'stop', reason: 'smoke', latched: false })
    keepSending(gateway, { lamp: true }, seq + 1)
    const zeros = () => ros.published('/arm').filter(({ data }) => data[0] === 0)
    await waitFor(() => expect(zeros()).toHaveLength(10))
  })

  test('whose position nobody measures cannot be halted: the stop is not answered', async () => {
    const ros = await start(startRosbridge)
    const settings = arm('std_msgs/Float64MultiArray', ', mode: position').replace(/telemetry:[\s\S]*/, '')
    const { gateway } = await connect({ ros, settings })
    keepSending(gateway, { joints: { shoulder: 1, elbow: 2 } })
    await waitFor(() => expect(ros.published('/arm').length).toBeGreaterThan(0))
    gateway.send({ type: 'stop', reason: 'smoke', latched: true })
    const beats = gateway.all('heartbeat').length
    await waitFor(() => expect(gateway.all('heartbeat').length).toBeGreaterThan(beats + 3))
    expect(gateway.all('stopped')).toEqual([])
  })
})

test('without node-datachannel a camera is served as MJPEG', async () => {
  const { MjpegServer } = await import('../../../packages/cli/ros/camera.ts')
  const server = new MjpegServer()
  opened.push({ [Symbol.asyncDispose]: async () => server.close() })
  const address = await server.listen('127.0.0.1', 0)
  const response = await fetch(address)
  expect(response.headers.get('content-type')).toContain('multipart/x-mixed-replace')
  const reader = response.body!.getReader()
  let received = ''
  await waitFor(async () => {
    server.send(Uint8Array.of(0xff, 0xd8, 0x41, 0x42))
    received += Buffer.from((await reader.read()).value ?? []).toString('latin1')
    expect(received).toContain('Content-Length: 4\r\n\r\n\u00ff\u00d8AB')
  })
  await reader.cancel()
  expect((await fetch(address, { method: 'POST' })).status).toBe(405)
})

test('foxglove_bridge: topics to which nodes only subscribe, from all updates of the graph', async () => {
  const server = await listen(0, 'foxglove.sdk.v1')
  opened.push({ [Symbol.asyncDispose]: async () => server.close() })
  const subscribed = (...names: string[]) => names.map((name) => ({ name, subscriberIds: ['node'] }))
  server.on('connection', (socket) => {
    const send = (frame: object) => socket.send(JSON.stringify(frame))
    send({ op: 'serverInfo', capabilities: ['connectionGraph'] })
    const op = 'connectionGraphUpdate'
    send({ op, subscribedTopics: subscribed('/cmd_vel', '/lamp', '/old'), removedTopics: [] })
    send({ op, subscribedTopics: [{ name: '/lamp', subscriberIds: [] }], removedTopics: ['/old'] })
  })
  const createSource = await loadSource('foxglove')
  const up = Promise.withResolvers<void>()
  const source = createSource({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    subscriptions: [],
    publications: [],
    onUp: up.resolve,
    onDown: (reason) => up.reject(new Error(reason)),
    onMessage: () => {},
    onProblem: (problem) => up.reject(new Error(problem)),
  })
  opened.push({ [Symbol.asyncDispose]: () => source.close() })
  await up.promise
  expect(await source.topics()).toEqual([{ name: '/cmd_vel', type: '' }])
})

test.each([
  [
    'move_base',
    {
      '/move_base_simple/goal': 'geometry_msgs/PoseStamped',
      '/move_base/status': 'actionlib_msgs/GoalStatusArray',
      '/odom': 'nav_msgs/Odometry',
      '/tf': 'tf2_msgs/TFMessage',
      '/amcl_pose': 'geometry_msgs/PoseWithCovarianceStamped',
    },
    { topic: '/move_base_simple/goal', cancel_topic: '/move_base/cancel', status_topic: '/move_base/status' },
    ['/odom', '/tf'],
  ],
  [
    'Nav2 whose status is hidden',
    { '/goal_pose': 'geometry_msgs/msg/PoseStamped', '/odom': 'nav_msgs/msg/Odometry' },
    { topic: '/goal_pose', cancel_service: '/navigate_to_pose/_action/cancel_goal' },
    ['/odom'],
  ],
  ['no planner', { '/odom': 'nav_msgs/msg/Odometry', '/tf': 'tf2_msgs/msg/TFMessage' }, undefined, ['/odom']],
])('init writes the goals of %s, and a pose in their frame', async (_name, types, goal, telemetry) => {
  const server = await listen(0)
  opened.push({ [Symbol.asyncDispose]: async () => server.close() })
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { op, id, service } = JSON.parse(String(data))
      const values = { topics: Object.keys(types), types: Object.values(types) }
      if (op === 'call_service')
        socket.send(JSON.stringify({ op: 'service_response', id, service, values, result: true }))
    })
  })
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-init-'))
  opened.push({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) })
  const out = join(folder, 'robot.yaml')
  const cli = {
    out: { notice: () => {}, line: () => {}, result: () => {} },
    env: {},
    signal: new AbortController().signal,
  } as unknown as Context
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  await init(cli, { from: 'rosbridge', url, out })
  const config = parseConfig(await readFile(out, 'utf8'), out)
  expect(config.goal).toEqual(goal && { ...goal, frame: 'map' })
  expect(config.telemetry.map(({ topic }) => topic)).toEqual(telemetry)
})
