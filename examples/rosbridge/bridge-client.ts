import type { WebSocket } from 'ws'
import { type DriveData, driveOfTwist, isSameType } from './messages.ts'
import {
  type ClientOp,
  type OpId,
  OpRefused,
  readClientOp,
  type StatusLevel,
  type SubscribeOp,
} from './ops.ts'
import { TopicFeed } from './topic-feed.ts'

/** Topics that clients may subscribe to. */
export const outTopics = {
  '/odom': 'nav_msgs/Odometry',
  '/telemetry': 'std_msgs/String',
  '/state': 'std_msgs/String',
} as const
/** Topics that clients may publish to. */
export const inTopics = { '/cmd_vel': 'geometry_msgs/Twist', '/stop': 'std_msgs/String' } as const
export type OutTopic = keyof typeof outTopics
type InTopic = keyof typeof inTopics

const MAX_SUBSCRIPTIONS = 32
const MAX_OPS_PER_SECOND = 500
/** Above this many unsent bytes, the bridge drops messages: newer ones follow. */
const MAX_UNSENT_BYTES = 256 * 1024
/** Shortest interval between two warnings. */
const WARNING_EVERY_MS = 1_000
const POLICY_VIOLATION = 1008

const severity = { info: 0, warning: 1, error: 2, none: 3 } as const

/** Operations of clients on the session behind the bridge. */
export interface Session {
  /** @throws OpRefused while another client drives */
  drive(client: BridgeClient, data: DriveData): void
  /** Halts the robot if the client drives it. */
  release(client: BridgeClient): void
  /** Reports the end of the client's connection. */
  disconnected(client: BridgeClient): void
  stop(reason: string): void
  /** Returns the last message of a latched topic; undefined without one. */
  latched(topic: OutTopic): string | undefined
}

/** One rosbridge client of the operator bridge. */
export class BridgeClient {
  readonly #socket: WebSocket
  readonly #session: Session
  readonly #feeds = new Map<OutTopic, TopicFeed>()
  #level: keyof typeof severity = 'error'
  #windowMs = 0
  #opsInWindow = 0
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor(socket: WebSocket, session: Session) {
    this.#socket = socket
    this.#session = session
    socket.on('message', (data, isBinary) => this.#receive(String(data), isBinary))
    socket.on('close', () => this.#end())
    socket.on('error', () => {}) // `close` follows
  }

  listensTo(topic: OutTopic): boolean {
    return this.#feeds.has(topic)
  }

  /** Offers a `publish` frame to the subscriptions of a topic. */
  offer(topic: OutTopic, frame: string): void {
    this.#feeds.get(topic)?.offer(frame)
  }

  /** Sends a warning, at most once a second. */
  warn(msg: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#warnedAtMs < WARNING_EVERY_MS) return
    this.#warnedAtMs = nowMs
    this.#status('warning', msg)
  }

  #receive(text: string, isBinary: boolean): void {
    if (!this.#admit()) return
    try {
      if (isBinary) throw new OpRefused('binary frames (BSON, CBOR) are not supported: send JSON text')
      this.#handleOperation(readClientOp(text))
    } catch (cause) {
      if (!(cause instanceof OpRefused)) throw cause
      this.#status('error', cause.message, cause.id)
    }
  }

  /** Returns false, and closes the connection, if the client sends too many frames. */
  #admit(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#windowMs >= 1_000) {
      this.#windowMs = nowMs
      this.#opsInWindow = 0
    }
    this.#opsInWindow += 1
    if (this.#opsInWindow <= MAX_OPS_PER_SECOND) return true
    this.#socket.close(POLICY_VIOLATION, 'too many frames')
    return false
  }

  #handleOperation(op: ClientOp): void {
    if (op.op === 'subscribe') this.#subscribe(op)
    else if (op.op === 'unsubscribe') this.#unsubscribe(op)
    else if (op.op === 'advertise') inTopic(op.topic, op.id, op.type)
    else if (op.op === 'unadvertise') {
      if (inTopic(op.topic, op.id) === '/cmd_vel') this.#session.release(this)
    } else if (op.op === 'publish') this.#publish(inTopic(op.topic, op.id), op.msg, op.id)
    else if (op.op === 'set_level') this.#level = op.level
    else {
      const values = 'this bridge does not support services'
      const answer = { op: 'service_response', id: op.id, service: op.service, values, result: false }
      this.#send(JSON.stringify(answer))
    }
  }

  #subscribe(op: SubscribeOp): void {
    const topic = outTopic(op.topic, op.id)
    if (op.type !== undefined && !isSameType(op.type, outTopics[topic]))
      throw new OpRefused(`subscribe: ${topic} is of type ${outTopics[topic]}`, op.id)
    if (op.compression !== undefined && op.compression !== 'none')
      throw new OpRefused(`subscribe: compression ${op.compression} is not supported`, op.id)
    if (typeof op.fragment_size === 'number')
      throw new OpRefused('subscribe: fragmentation is not supported', op.id)
    const feed = this.#feeds.get(topic) ?? new TopicFeed((frame) => this.#sendDroppable(frame))
    const subscriptions = [...this.#feeds.values()].reduce((sum, { size }) => sum + size, 0)
    if (subscriptions >= MAX_SUBSCRIPTIONS && !feed.has(op.id))
      throw new OpRefused(`subscribe: at most ${MAX_SUBSCRIPTIONS} subscriptions`, op.id)
    this.#feeds.set(topic, feed)
    feed.subscribe(op)
    const latched = this.#session.latched(topic)
    if (latched !== undefined) feed.offer(latched)
  }

  #unsubscribe({ topic, id }: { topic: string; id?: OpId }): void {
    const feed = this.#feeds.get(outTopic(topic, id))
    if (!feed?.unsubscribe(id)) return this.#status('warning', `unsubscribe: not subscribed to ${topic}`, id)
    if (feed.size === 0) this.#feeds.delete(outTopic(topic, id))
  }

  #publish(topic: InTopic, msg: unknown, id: OpId): void {
    if (topic === '/stop') {
      const reason = typeof msg === 'object' && msg !== null && 'data' in msg ? msg.data : undefined
      // A message without a reason also stops the robot.
      return this.#session.stop(
        typeof reason === 'string' && reason !== '' ? reason : 'stopped over rosbridge',
      )
    }
    const drive = driveOfTwist(msg)
    if (!drive) throw new OpRefused(`publish: the message is not a ${inTopics['/cmd_vel']}`, id)
    this.#session.drive(this, drive)
  }

  #status(level: StatusLevel, msg: string, id?: OpId): void {
    if (severity[level] < severity[this.#level]) return
    this.#sendDroppable(JSON.stringify({ op: 'status', ...(id !== undefined && { id }), level, msg }))
  }

  #sendDroppable(text: string): void {
    if (this.#socket.bufferedAmount <= MAX_UNSENT_BYTES) this.#send(text)
  }

  #send(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text)
  }

  #end(): void {
    for (const feed of this.#feeds.values()) feed.close()
    this.#feeds.clear()
    this.#session.disconnected(this)
  }
}

function outTopic(topic: string, id: OpId): OutTopic {
  if (Object.hasOwn(outTopics, topic)) return topic as OutTopic
  throw new OpRefused(
    `unknown topic: ${topic}; clients can subscribe to ${Object.keys(outTopics).join(', ')}`,
    id,
  )
}

function inTopic(topic: string, id: OpId, type?: string): InTopic {
  if (!Object.hasOwn(inTopics, topic))
    throw new OpRefused(
      `unknown topic: ${topic}; clients can publish to ${Object.keys(inTopics).join(', ')}`,
      id,
    )
  const known = topic as InTopic
  if (type !== undefined && !isSameType(type, inTopics[known]))
    throw new OpRefused(`advertise: ${topic} is of type ${inTopics[known]}`, id)
  return known
}
