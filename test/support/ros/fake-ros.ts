import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { parse, stringify } from '@foxglove/rosmsg'
import { MessageReader, MessageWriter } from '@foxglove/rosmsg2-serialization'
import { type Channel, FoxgloveServer } from '@foxglove/ws-protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { definitionsFor } from '../../../packages/cli/ros/definitions.ts'
import { plainType, ros2Type } from '../../../packages/cli/ros/source.ts'

// Stand-ins for the bridges of ROS, with a base that repeats the last command without a timeout: it halts only on a command.

const STEP_MS = 20

// biome-ignore lint/suspicious/noExplicitAny: tests assert on arbitrary messages
type Message = any

/** The topics that a stand-in offers, and their types. */
const offered: Readonly<Record<string, string>> = {
  '/odom': 'nav_msgs/Odometry',
  '/scan': 'sensor_msgs/LaserScan',
  '/battery_state': 'sensor_msgs/BatteryState',
  '/joint_states': 'sensor_msgs/JointState',
  '/rosout': 'rcl_interfaces/Log',
  '/camera/image/compressed': 'sensor_msgs/CompressedImage',
  '/navigate_to_pose/_action/status': 'action_msgs/GoalStatusArray',
}

export interface FakeRos extends AsyncDisposable {
  readonly type: 'rosbridge' | 'foxglove'
  readonly port: number
  readonly url: string
  /** The messages that clients have published to a topic. */
  published(topic: string): Message[]
  /** Services that clients have called. */
  readonly calls: { readonly service: string; readonly request: Message }[]
  /** Whether the base sends its odometry. */
  odometry: boolean
  /** Sends a message to the subscribers of a topic. */
  send(topic: string, message: Message): void
  /** Topics that have a subscriber. */
  subscribed(): string[]
  /** Breaks all connections. */
  disconnect(): void
}

/** The base: its wheels turn as the last command says. */
class Base {
  readonly published = new Map<string, Message[]>()
  readonly calls: { service: string; request: Message }[] = []
  odometry = true
  readonly #timer: NodeJS.Timeout
  #x = 0

  constructor(send: (topic: string, message: Message) => void) {
    this.#timer = setInterval(() => {
      const speed = this.of('/cmd_vel').at(-1)?.linear?.x ?? 0
      this.#x += (speed * STEP_MS) / 1000
      if (this.odometry) send('/odom', odometry(this.#x, speed))
    }, STEP_MS)
  }

  of(topic: string): Message[] {
    return this.published.get(topic) ?? []
  }

  receive(topic: string, message: Message): void {
    this.published.set(topic, [...this.of(topic), message])
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

export const odometry = (x: number, speed: number) => ({
  header: { frame_id: 'odom' },
  child_frame_id: 'base_link',
  pose: { pose: { position: { x, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 } } },
  twist: { twist: { linear: { x: speed, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0 } } },
})

/** Starts a WebSocket server that speaks a subprotocol. */
export async function listen(port: number, protocol?: string): Promise<WebSocketServer> {
  const handleProtocols = () => protocol ?? false
  const server = new WebSocketServer({ host: '127.0.0.1', port, handleProtocols })
  await once(server, 'listening')
  return server
}

function commonParts(server: WebSocketServer, base: Base) {
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `ws://127.0.0.1:${port}`,
    calls: base.calls,
    published: (topic: string) => base.of(topic),
    get odometry() {
      return base.odometry
    },
    set odometry(on: boolean) {
      base.odometry = on
    },
    disconnect: () => server.clients.forEach((socket) => void socket.terminate()),
    async [Symbol.asyncDispose]() {
      base.close()
      for (const socket of server.clients) socket.terminate()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Starts a stand-in for rosbridge_server. */
export async function startRosbridge(port = 0): Promise<FakeRos> {
  const server = await listen(port)
  const topics = new Map<WebSocket, Set<string>>()
  const send = (topic: string, message: Message) => {
    const frame = JSON.stringify({ op: 'publish', topic, msg: message })
    for (const [socket, wanted] of topics) if (wanted.has(topic)) socket.send(frame)
  }
  const base = new Base(send)
  const answer = (service: string) =>
    service === '/rosapi/topics'
      ? {
          topics: ['/cmd_vel', ...Object.keys(offered)],
          types: ['geometry_msgs/msg/Twist', ...Object.values(offered).map((type) => ros2Type(type))],
        }
      : {}
  server.on('connection', (socket) => {
    const wanted = new Set<string>()
    topics.set(socket, wanted)
    socket.on('close', () => topics.delete(socket))
    socket.on('message', (data) => {
      const op = JSON.parse(String(data))
      if (op.op === 'subscribe') wanted.add(op.topic)
      else if (op.op === 'publish') base.receive(op.topic, op.msg)
      else if (op.op === 'call_service') {
        base.calls.push({ service: op.service, request: op.args })
        const { id, service } = op
        socket.send(
          JSON.stringify({ op: 'service_response', id, service, values: answer(service), result: true }),
        )
      }
    })
  })
  return Object.assign(commonParts(server, base), {
    type: 'rosbridge' as const,
    send,
    subscribed: () => [...topics.values()].flatMap((wanted) => [...wanted]),
  })
}

const cancelService = { name: '/navigate_to_pose/_action/cancel_goal', type: 'action_msgs/srv/CancelGoal' }

/** Starts a stand-in for foxglove_bridge, with the server of the protocol's own library. */
export async function startFoxglove(port = 0, protocol = 'foxglove.sdk.v1'): Promise<FakeRos> {
  const bridge = new FoxgloveServer({
    name: 'fake',
    capabilities: ['clientPublish', 'services', 'connectionGraph'],
    supportedEncodings: ['cdr'],
  })
  const server = await listen(port, protocol)
  server.on('connection', (socket) => bridge.handleConnection(socket as never, 'client'))
  bridge.on('error', () => {})
  const subscribed = new Set<number>()
  bridge.on('subscribe', (id) => subscribed.add(id))
  bridge.on('unsubscribe', (id) => subscribed.delete(id))
  const channels = new Map(
    Object.entries(offered).map(([topic, type]) => {
      const schema = stringify(definitionsFor(type, 'ros2'))
      const channel: Omit<Channel, 'id'> = {
        topic,
        encoding: 'cdr',
        schemaName: ros2Type(type),
        schema,
        schemaEncoding: 'ros2msg',
      }
      const writer = new MessageWriter(parse(schema, { ros2: true }))
      return [topic, { id: bridge.addChannel(channel), writer }] as const
    }),
  )
  bridge.addService({ ...cancelService, requestSchema: '', responseSchema: '' })
  const send = (topic: string, message: Message) => {
    const channel = channels.get(topic)
    if (channel && subscribed.has(channel.id))
      bridge.sendMessage(channel.id, 0n, new Uint8Array(channel.writer.writeMessage(message)))
  }
  const base = new Base(send)
  bridge.on('message', ({ channel, data }) => {
    const reader = new MessageReader(definitionsFor(plainType(channel.schemaName), 'ros2'))
    base.receive(channel.topic, reader.readMessage(data))
  })
  bridge.on('serviceCallRequest', ({ data }) => {
    base.calls.push({ service: cancelService.name, request: data })
  })
  return Object.assign(commonParts(server, base), {
    type: 'foxglove' as const,
    send,
    subscribed: () => [...channels].filter(([, { id }]) => subscribed.has(id)).map(([topic]) => topic),
  })
}
