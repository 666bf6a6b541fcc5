import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type OperatorBridge, startOperatorBridge } from '../../../examples/rosbridge/operator-bridge.ts'
import { connectRoslib, type RosClient, Service, Topic } from '../../support/examples/roslib.ts'
import { waitFor } from '../../support/world/wait.ts'

// The operator's bridge in front of a driver that only records its calls. The tests use roslib where it supports the
// request, and a plain WebSocket otherwise.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function open(options: { allowedOrigins?: string[] } = {}) {
  const sent: unknown[] = []
  const stops: string[] = []
  let connected = true
  const driver = {
    control: (data: unknown) => (connected ? sent.push(data) : null),
    stop: (reason: string) => void stops.push(reason),
  }
  const bridge = await startOperatorBridge(driver, { port: 0, ...options })
  cleanups.push(() => bridge.close())
  const disconnect = () => {
    connected = false
  }
  return { bridge, sent, stops, disconnect }
}

async function roslib({ port }: OperatorBridge): Promise<RosClient> {
  const ros = await connectRoslib(port)
  cleanups.push(() => ros.close())
  return ros
}

type Op = Record<string, unknown>

/** Connects a client without roslib, which records what it receives. */
async function bare({ port }: OperatorBridge, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers })
  const received: Op[] = []
  socket.on('message', (data) => received.push(JSON.parse(String(data))))
  const closed = new Promise<number>((settle) => socket.once('close', settle))
  socket.on('error', () => {})
  cleanups.push(() => socket.terminate())
  await new Promise((settle) => socket.once('open', settle).once('close', settle))
  const sendOp = (op: Op | string) => socket.send(typeof op === 'string' ? op : JSON.stringify(op))
  return { socket, received, sendOp, closed }
}

const soon = (check: () => void) => waitFor(check)
const twist = (x: number, z = 0) => ({ linear: { x, y: 0, z: 0 }, angular: { x: 0, y: 0, z } })
const cmdVelOf = (ros: RosClient) => new Topic({ ros, name: '/cmd_vel', messageType: 'geometry_msgs/Twist' })
const pose = { pose: { x_m: 1, y_m: -2, heading_rad: Math.PI / 2 } }

describe('roslib', () => {
  test('receives odometry, telemetry and state; the last state at once', async () => {
    const { bridge } = await open()
    bridge.state({ type: 'state', status: 'ACTIVE', robot_connected: true, stop: null })
    const ros = await roslib(bridge)
    const received: Record<string, unknown[]> = { '/odom': [], '/telemetry': [], '/state': [] }
    for (const [name, messageType] of [
      ['/odom', 'nav_msgs/msg/Odometry'],
      ['/telemetry', 'std_msgs/String'],
      ['/state', 'std_msgs/String'],
    ] as const) {
      new Topic({ ros, name, messageType }).subscribe((message) => received[name]!.push(message))
    }
    await soon(() => expect(received['/state']).toHaveLength(1))
    expect(JSON.parse((received['/state']![0] as { data: string }).data)).toEqual({
      status: 'ACTIVE',
      robot_connected: true,
      stop: null,
    })
    bridge.telemetry({ ...pose, velocity: { linear_mps: 0.5, angular_radps: -1 } })
    bridge.telemetry({ battery: 0.5 }) // has no pose
    await soon(() => expect(received['/telemetry']).toEqual([expect.anything(), { data: '{"battery":0.5}' }]))
    expect(received['/odom']).toEqual([
      expect.objectContaining({
        child_frame_id: 'base_link',
        pose: expect.objectContaining({
          pose: {
            position: { x: 1, y: -2, z: 0 },
            orientation: { x: 0, y: 0, z: expect.closeTo(Math.SQRT1_2), w: expect.closeTo(Math.SQRT1_2) },
          },
        }),
        twist: expect.objectContaining({ twist: twist(0.5, -1) }),
      }),
    ])
  })

  test('drives and stops the robot', async () => {
    const { bridge, sent, stops } = await open()
    const ros = await roslib(bridge)
    cmdVelOf(ros).publish(twist(0.3, -0.4))
    await soon(() => expect(sent).toEqual([{ linear_mps: 0.3, angular_radps: -0.4 }]))
    new Topic({ ros, name: '/stop', messageType: 'std_msgs/String' }).publish({ data: 'smoke' })
    await soon(() => expect(stops).toEqual(['smoke']))
  })

  test('gets an error for a service call', async () => {
    const ros = await roslib((await open()).bridge)
    const service = new Service({ ros, name: '/rosapi/topics', serviceType: 'rosapi/Topics' })
    const refusal = await new Promise((resolve) => service.callService({}, () => {}, resolve))
    expect(refusal).toBe('this bridge does not support services')
  })

  test('releases the robot when it disconnects: the robot halts, and another client may drive', async () => {
    const { bridge, sent } = await open()
    const first = await roslib(bridge)
    cmdVelOf(first).publish(twist(0.3))
    await soon(() => expect(sent).toHaveLength(1))
    const other = await bare(bridge)
    other.sendOp({ op: 'publish', topic: '/cmd_vel', msg: twist(9) })
    await soon(() => expect(other.received.at(-1)?.msg).toBe('/cmd_vel: another client is driving'))
    first.close()
    await soon(() => expect(sent.at(-1)).toEqual({ linear_mps: 0, angular_radps: 0 }))
    other.sendOp({ op: 'publish', topic: '/cmd_vel', msg: twist(0.1) })
    await soon(() => expect(sent.at(-1)).toEqual({ linear_mps: 0.1, angular_radps: 0 }))
    expect(sent).toHaveLength(3)
  })
})

describe('a refusal is reported', () => {
  test.each<[string, Op | string, string]>([
    ['no JSON', 'hello', 'a frame must be JSON'],
    ['no op', '{}', 'a frame must be a JSON object with an "op"'],
    ['a fragment', { op: 'fragment', data: 'x', num: 0, total: 2 }, 'fragment: send whole'],
    ['a PNG', { op: 'png', data: 'x' }, 'png: send whole'],
    ['a service', { op: 'advertise_service', service: '/x', type: 'y' }, 'advertise_service: not supported'],
    ['an unknown op', { op: 'nonsense' }, 'nonsense: not supported'],
    ['a malformed op', { op: 'subscribe', topic: 7 }, 'subscribe: '],
    ['a subscription to an unknown topic', { op: 'subscribe', topic: '/scan' }, 'clients can subscribe to'],
    ['a message for an unknown topic', { op: 'publish', topic: '/odom', msg: {} }, 'clients can publish to'],
    ['__proto__', { op: 'subscribe', topic: '__proto__' }, 'clients can subscribe to'],
    [
      'another type',
      { op: 'subscribe', topic: '/odom', type: 'a/B' },
      'subscribe: /odom is of type nav_msgs',
    ],
    [
      'another type to advertise',
      { op: 'advertise', topic: '/cmd_vel', type: 'a/B' },
      'advertise: /cmd_vel is of',
    ],
    ['compression', { op: 'subscribe', topic: '/odom', compression: 'cbor' }, 'compression cbor is not'],
    ['fragments', { op: 'subscribe', topic: '/odom', fragment_size: 10 }, 'fragmentation is not supported'],
    [
      'an invalid Twist',
      { op: 'publish', topic: '/cmd_vel', msg: { linear: { x: 'fast' } } },
      'the message is not a geometry',
    ],
    [
      'a TwistStamped',
      { op: 'publish', topic: '/cmd_vel', msg: { header: {}, twist: twist(0.5) } },
      'the message is not a geometry',
    ],
    [
      'a speed that no robot reaches',
      { op: 'publish', topic: '/cmd_vel', msg: twist(1e308) },
      'the message is not a geometry',
    ],
    ['a null Twist', { op: 'publish', topic: '/cmd_vel', msg: null }, 'the message is not a geometry'],
  ])('%s', async (_name, op, msg) => {
    const { bridge, sent } = await open()
    const client = await bare(bridge)
    client.sendOp(typeof op === 'string' ? op : { ...op, id: 'mine' })
    const id = typeof op === 'string' ? {} : { id: 'mine' }
    await soon(() =>
      expect(client.received).toEqual([
        { op: 'status', level: 'error', ...id, msg: expect.stringContaining(msg) },
      ]),
    )
    expect(sent).toEqual([])
  })

  test('binary frames', async () => {
    const client = await bare((await open()).bridge)
    client.socket.send(new Uint8Array(4))
    await soon(() => expect(client.received.at(-1)?.msg).toContain('binary frames'))
  })

  test('by level: warnings only to clients that request them', async () => {
    const { bridge, disconnect } = await open()
    disconnect()
    const client = await bare(bridge)
    const drive = { op: 'publish', topic: '/cmd_vel', msg: twist(0.3) }
    client.sendOp(drive)
    client.sendOp({ op: 'unsubscribe', topic: '/odom' })
    client.sendOp({ op: 'set_level', level: 'warning' })
    client.sendOp({ op: 'unsubscribe', topic: '/odom', id: 1 })
    await soon(() => expect(client.received).toHaveLength(1))
    expect(client.received[0]).toMatchObject({
      level: 'warning',
      id: 1,
      msg: expect.stringContaining('not subscribed'),
    })
    // The bridge issued the first warning within the last second, and the client's level suppressed it.
    await soon(() => {
      client.sendOp(drive)
      expect(client.received.at(-1)?.msg).toBe(
        '/cmd_vel: not sent, the bridge is not connected to the session',
      )
    })
    bridge.dropped('session_paused')
    client.sendOp({ op: 'set_level', level: 'none' })
    client.sendOp('nonsense')
    client.sendOp({ op: 'call_service', service: '/x', id: 's' })
    await soon(() => expect(client.received.at(-1)).toMatchObject({ op: 'service_response', result: false }))
    expect(client.received.map(({ level }) => level)).not.toContain('error')
  })
})

describe('limits', () => {
  test('pages are refused unless their origin is allowed', async () => {
    const { bridge } = await open({ allowedOrigins: ['https://console.example.com'] })
    const forbiddenPage = await bare(bridge, { origin: 'https://elsewhere.example.com' })
    expect(forbiddenPage.socket.readyState).not.toBe(WebSocket.OPEN)
    const allowedPage = await bare(bridge, { origin: 'https://console.example.com' })
    expect(allowedPage.socket.readyState).toBe(WebSocket.OPEN)
  })

  test('subscriptions of a client', async () => {
    const client = await bare((await open()).bridge)
    for (let id = 1; id <= 33; id++) client.sendOp({ op: 'subscribe', topic: '/telemetry', id })
    await soon(() => expect(client.received).toHaveLength(1))
    expect(client.received[0]).toMatchObject({ id: 33, msg: 'subscribe: at most 32 subscriptions' })
    client.sendOp({ op: 'unsubscribe', topic: '/telemetry', id: 1 })
    client.sendOp({ op: 'subscribe', topic: '/odom', id: 33 })
    client.sendOp({ op: 'subscribe', topic: '/odom', id: 34 })
    await soon(() => expect(client.received).toHaveLength(2))
    expect(client.received[1]).toMatchObject({ id: 34 })
  })

  test('clients', async () => {
    const { bridge } = await open()
    for (let client = 1; client <= 16; client++) await bare(bridge)
    expect(await (await bare(bridge)).closed).toBe(1013)
  })

  test('frames a second', async () => {
    const client = await bare((await open()).bridge)
    for (let frame = 0; frame <= 1_100; frame++) client.sendOp({ op: 'set_level', level: 'none' })
    expect(await client.closed).toBe(1008)
  })

  test('a throttled subscriber gets the newest pending messages, up to its queue length', async () => {
    const { bridge } = await open()
    const client = await bare(bridge)
    client.sendOp({ op: 'subscribe', topic: '/telemetry', throttle_rate: 100, queue_length: 2 })
    client.sendOp({ op: 'call_service', service: '/x' })
    await soon(() => expect(client.received).toHaveLength(1))
    for (let sample = 1; sample <= 9; sample++) bridge.telemetry(sample)
    const samples = () =>
      client.received.filter(({ op }) => op === 'publish').map(({ msg }) => (msg as { data: string }).data)
    await soon(() => expect(samples()).toEqual(['1', '8', '9']))

    client.sendOp({ op: 'subscribe', topic: '/odom', throttle_rate: 60_000 })
    client.sendOp({ op: 'call_service', service: '/x' })
    await soon(() => expect(client.received.filter(({ op }) => op === 'service_response')).toHaveLength(2))
    for (let sample = 1; sample <= 9; sample++) bridge.telemetry({ pose: { ...pose.pose, x_m: sample } })
    await soon(() => expect(samples()).toHaveLength(6))
    const odometry = client.received.filter(({ topic }) => topic === '/odom')
    expect(odometry, 'the first at once, and no other within the minute').toHaveLength(1)
  })
})
