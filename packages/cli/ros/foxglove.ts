import type { MessageDefinition } from '@foxglove/message-definition'
import { parse } from '@foxglove/rosmsg'
import { MessageReader, MessageWriter } from '@foxglove/rosmsg2-serialization'
import { z } from 'zod'
import { definitionsFor } from './definitions.ts'
import { RosSocket } from './ros-socket.ts'
import {
  plainType,
  RateLimit,
  type RosMessage,
  type RosSource,
  type RosTopic,
  ros2Type,
  type SourceOptions,
} from './source.ts'

/** Older bridges speak the first one, those on the Foxglove SDK the second one, with the same frames. */
const PROTOCOLS = ['foxglove.sdk.v1', 'foxglove.websocket.v1']
const MESSAGE_DATA = 1
const CLIENT_MESSAGE_DATA = 1
const CLIENT_SERVICE_CALL = 2
/** Opcode, subscription and receive time precede a message. */
const MESSAGE_HEADER_BYTES = 13
/** A robot has hundreds of topics; others than the first ones are not known. */
const MAX_CHANNELS = 4_096
const MAX_SERVICES = 4_096
const SETTLE_MS = 500

const ServerInfo = z.object({ op: z.literal('serverInfo'), capabilities: z.array(z.string()) })
const Channel = z.object({
  id: z.number(),
  topic: z.string(),
  encoding: z.string(),
  schemaName: z.string(),
  schema: z.string(),
  schemaEncoding: z.string().optional(),
})
type Channel = z.infer<typeof Channel>
const Advertise = z.object({ op: z.literal('advertise'), channels: z.array(Channel) })
const Unadvertise = z.object({ op: z.literal('unadvertise'), channelIds: z.array(z.number()) })
const Service = z.object({ id: z.number(), name: z.string(), type: z.string() })
const AdvertiseServices = z.object({ op: z.literal('advertiseServices'), services: z.array(Service) })
const UnadvertiseServices = z.object({
  op: z.literal('unadvertiseServices'),
  serviceIds: z.array(z.number()),
})
const Status = z.object({ op: z.literal('status'), level: z.number(), message: z.string() })
const ServiceCallFailure = z.object({ op: z.literal('serviceCallFailure'), message: z.string() })
const Graph = z.object({
  op: z.literal('connectionGraphUpdate'),
  subscribedTopics: z.array(z.object({ name: z.string(), subscriberIds: z.array(z.unknown()) })),
  removedTopics: z.array(z.string()).default([]),
})
const ServerFrame = z.discriminatedUnion('op', [
  ServerInfo,
  Advertise,
  Unadvertise,
  AdvertiseServices,
  UnadvertiseServices,
  Status,
  ServiceCallFailure,
  Graph,
])
type ServerFrame = z.infer<typeof ServerFrame>
const knownOps: ReadonlySet<unknown> = new Set(ServerFrame.options.map(({ shape }) => shape.op.value))

/** The levels of a status. */
const WARNING = 1

/** ROS 2 behind foxglove_bridge: CDR over a WebSocket. */
export class FoxgloveSource implements RosSource {
  readonly #options: SourceOptions
  readonly #socket: RosSocket
  readonly #writers: ReadonlyMap<string, { id: number; type: string; writer: MessageWriter }>
  readonly #rates: ReadonlyMap<string, RateLimit>
  readonly #channels = new Map<number, Channel>()
  readonly #services = new Map<number, z.infer<typeof Service>>()
  /** Topics to which other nodes subscribe: they have a channel only if a node publishes them, too. */
  readonly #subscribed = new Set<string>()
  /** By the number of the subscription: that of the channel. */
  readonly #readers = new Map<number, { topic: string; reader: MessageReader }>()
  #isUp = false
  #nextCall = 0

  /** @throws Error for a publication of a type that is not common */
  constructor(options: SourceOptions) {
    this.#options = options
    this.#rates = new Map(options.subscriptions.map(({ topic, rateHz }) => [topic, new RateLimit(rateHz)]))
    this.#writers = new Map(
      options.publications.map(({ topic, type }, index) => [
        topic,
        { id: index + 1, type, writer: new MessageWriter(definitionsFor(type, 'ros2')) },
      ]),
    )
    this.#socket = new RosSocket({
      url: options.url,
      protocols: PROTOCOLS,
      onOpen: () => {},
      onDown: (reason) => this.#down(reason),
      onText: (text) => this.#receive(text),
      onBinary: (data) => this.#receiveBinary(data),
      onProblem: options.onProblem,
    })
  }

  get isUp(): boolean {
    return this.#isUp
  }

  publish(topic: string, message: RosMessage): boolean {
    const publication = this.#writers.get(topic)
    if (!publication || !this.#isUp) return false
    const payload = publication.writer.writeMessage(message)
    const frame = Buffer.allocUnsafe(5 + payload.length)
    frame[0] = CLIENT_MESSAGE_DATA
    frame.writeUInt32LE(publication.id, 1)
    frame.set(payload, 5)
    return this.#socket.send(frame)
  }

  call(service: string, type: string, request: RosMessage): boolean {
    const known = [...this.#services.values()].find(({ name }) => name === service)
    const definitions = requestDefinitions[plainType(type)]
    if (!known || !definitions || !this.#isUp) return false
    const payload = new MessageWriter(definitions).writeMessage(request)
    const frame = Buffer.allocUnsafe(16 + payload.length)
    frame[0] = CLIENT_SERVICE_CALL
    frame.writeUInt32LE(known.id, 1)
    frame.writeUInt32LE(this.#nextCall++ >>> 0, 5)
    frame.writeUInt32LE(3, 9)
    frame.write('cdr', 13)
    frame.set(payload, 16)
    return this.#socket.send(frame)
  }

  /** Returns the topics that nodes publish, and without a type those to which nodes only subscribe. */
  async topics(): Promise<readonly RosTopic[]> {
    await this.#settled()
    const published = [...this.#channels.values()].map(({ topic, schemaName }) => ({
      name: topic,
      type: plainType(schemaName),
    }))
    const names = new Set(published.map(({ name }) => name))
    const others = [...this.#subscribed].filter((name) => !names.has(name))
    return [...published, ...others.map((name) => ({ name, type: '' }))]
  }

  async robotDescription(): Promise<string | undefined> {
    return undefined // it is a topic in ROS 2: subscribe to it
  }

  close(): Promise<void> {
    return this.#socket.close()
  }

  #down(reason: string): void {
    this.#isUp = false
    this.#forget()
    this.#options.onDown(reason)
  }

  #forget(): void {
    this.#channels.clear()
    this.#services.clear()
    this.#readers.clear()
    this.#subscribed.clear()
  }

  #receive(text: string): void {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('op' in value) || !knownOps.has(value.op)) return
    const frame = ServerFrame.safeParse(value)
    if (!frame.success) throw new Error(`foxglove_bridge sent a malformed ${String(value.op)}`)
    this.#handle(frame.data)
  }

  #handle(frame: ServerFrame): void {
    if (frame.op === 'serverInfo') this.#greet(frame.capabilities)
    else if (frame.op === 'advertise') for (const channel of frame.channels) this.#offered(channel)
    else if (frame.op === 'unadvertise') {
      for (const id of frame.channelIds) {
        this.#channels.delete(id)
        this.#readers.delete(id)
      }
    } else if (frame.op === 'advertiseServices') {
      for (const service of frame.services)
        if (this.#services.size < MAX_SERVICES) this.#services.set(service.id, service)
    } else if (frame.op === 'unadvertiseServices')
      for (const id of frame.serviceIds) this.#services.delete(id)
    else if (frame.op === 'connectionGraphUpdate') this.#changeGraph(frame)
    else if (frame.op === 'serviceCallFailure') this.#options.onProblem(frame.message)
    else if (frame.level >= WARNING) this.#options.onProblem(`foxglove_bridge: ${frame.message}`)
  }

  /** Handles what has changed since the last update. */
  #changeGraph({ subscribedTopics, removedTopics }: z.infer<typeof Graph>): void {
    for (const name of removedTopics) this.#subscribed.delete(name)
    for (const { name, subscriberIds } of subscribedTopics)
      if (subscriberIds.length === 0) this.#subscribed.delete(name)
      else if (this.#subscribed.size < MAX_CHANNELS) this.#subscribed.add(name)
  }

  /** Begins after the greeting of the bridge, which a connection may get again. */
  #greet(capabilities: readonly string[]): void {
    this.#forget()
    if (this.#writers.size > 0 && !capabilities.includes('clientPublish')) {
      this.#isUp = false
      return this.#options.onDown('it does not allow to publish: start it with the capability clientPublish')
    }
    const channels = [...this.#writers].map(([topic, { id, type }]) => ({
      id,
      topic,
      encoding: 'cdr',
      schemaName: ros2Type(type),
    }))
    if (channels.length > 0) this.#send({ op: 'advertise', channels })
    if (capabilities.includes('connectionGraph')) this.#send({ op: 'subscribeConnectionGraph' })
    this.#isUp = true
    this.#options.onUp()
  }

  #offered(channel: Channel): void {
    const { id, topic, encoding, schemaName, schema, schemaEncoding = 'ros2msg' } = channel
    if (this.#channels.size >= MAX_CHANNELS) return
    this.#channels.set(id, channel)
    const wanted = this.#options.subscriptions.find((item) => item.topic === topic)
    if (!wanted) return
    const problem =
      encoding !== 'cdr' || schemaEncoding !== 'ros2msg'
        ? `its messages are ${encoding} (${schemaEncoding}), not CDR (ros2msg)`
        : plainType(schemaName) !== plainType(wanted.type)
          ? `its type is ${schemaName}, not ${wanted.type}`
          : undefined
    if (problem) return this.#options.onProblem(`${topic} cannot be read: ${problem}`)
    const reader = new MessageReader(parse(schema, { ros2: true }))
    this.#readers.set(id, { topic, reader })
    this.#send({ op: 'subscribe', subscriptions: [{ id, channelId: id }] })
  }

  #receiveBinary(data: Buffer): void {
    if (data[0] !== MESSAGE_DATA || data.length < MESSAGE_HEADER_BYTES) return
    const known = this.#readers.get(data.readUInt32LE(1))
    if (!known || !this.#rates.get(known.topic)?.admits(performance.now())) return
    // CDR is aligned to the beginning of its buffer.
    const payload = new Uint8Array(data.subarray(MESSAGE_HEADER_BYTES))
    this.#options.onMessage(known.topic, known.reader.readMessage(payload))
  }

  #send(frame: object): boolean {
    return this.#socket.send(JSON.stringify(frame))
  }

  /** Resolves when the bridge has offered no further channel for half a second. */
  async #settled(): Promise<void> {
    for (let known = -1; known !== this.#channels.size + this.#subscribed.size; ) {
      known = this.#channels.size + this.#subscribed.size
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    }
    if (!this.#socket.isOpen) throw new Error('foxglove_bridge is not connected')
  }
}

const field = (type: string, name: string, isComplex: boolean) => ({ type, name, isComplex, isArray: false })

/** Requests of the services that this program calls. */
const requestDefinitions: Readonly<Record<string, MessageDefinition[]>> = {
  'action_msgs/CancelGoal': [
    {
      name: 'action_msgs/CancelGoal_Request',
      definitions: [field('action_msgs/GoalInfo', 'goal_info', true)],
    },
    ...definitionsFor('action_msgs/GoalInfo', 'ros2'),
  ],
}
