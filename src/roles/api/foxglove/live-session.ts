import { cameraOfTopic, recordingTopics, type SessionLogEvent } from '@wheelhouse/protocol'
import { logMessage, topicDefinition } from '../../../modules/recordings/mcap/index.ts'
import {
  type LiveTail,
  STATE_TOPICS,
  type TailKind,
  type TailMessage,
} from '../../../modules/recordings/transport/index.ts'
import type { ChannelMessage, ClientConnection, ConnectionSource } from './client-connection.ts'
import { closings } from './closings.ts'
import { type Channel, channelOf, NS_PER_MS, serverInfo } from './wire.ts'

const MAX_CAMERAS = 16
const OVER = new Set<unknown>(['COMPLETED', 'CANCELLED'])

interface LiveChannel {
  readonly channel: Channel
  readonly kind: TailKind
  /** The last message of a channel that is not a camera, for clients that subscribe later. */
  last: ChannelMessage | undefined
}

/** An open session, as the clients of Foxglove in this process read it. They share its data. */
export class LiveSession implements ConnectionSource {
  readonly sessionId: string
  readonly #connections = new Set<ClientConnection>()
  readonly #channels = new Map<string, LiveChannel>()
  readonly #topicOf = new Map<number, string>()
  /** Cameras that a client subscribes to, and of which it needs a keyframe. */
  readonly #wantedKeyframes = new Set<string>()
  readonly #tail: Pick<LiveTail, 'requestKeyframe'>
  readonly #onEmpty: () => void
  #nextId = 1
  #isOver = false

  constructor(
    sessionId: string,
    deps: {
      /** Connects to the recorders. */
      readonly openTail: (onMessage: (message: TailMessage) => void) => Pick<LiveTail, 'requestKeyframe'>
      /** Called when the last client has left. */
      readonly onEmpty: () => void
    },
  ) {
    this.sessionId = sessionId
    this.#onEmpty = deps.onEmpty
    for (const topic of Object.values(recordingTopics)) this.#addChannel(topic, 'json')
    this.#tail = deps.openTail((message) => this.#onMessage(message))
  }

  /** Adds a client. */
  add(connection: ClientConnection): void {
    this.#connections.add(connection)
    connection.send(serverInfo({ name: 'Wheelhouse, live', sessionId: this.sessionId }))
    connection.advertise([...this.#channels.values()].map(({ channel }) => channel))
    if (this.#isOver) closeOver(connection)
  }

  subscribed(connection: ClientConnection, channelId: number): void {
    const topic = this.#topicOf.get(channelId)
    const known = topic === undefined ? undefined : this.#channels.get(topic)
    if (known?.last) connection.publish(channelId, known.last)
    if (known?.kind === 'video') this.#wantKeyframe(known.channel.topic)
  }

  skipped(_connection: ClientConnection, channelId: number): void {
    const topic = this.#topicOf.get(channelId)
    if (topic !== undefined) this.#wantedKeyframes.add(topic)
  }

  closed(connection: ClientConnection): void {
    if (this.#connections.delete(connection) && this.#connections.size === 0) this.#onEmpty()
  }

  sendTime(nowMs: number): void {
    const ns = BigInt(Math.round(nowMs)) * NS_PER_MS
    for (const connection of this.#connections) connection.sendTime(ns)
  }

  /** Asks again for the keyframes that have not arrived, and that a client still needs. */
  requestKeyframes(): void {
    for (const topic of this.#wantedKeyframes) {
      if (this.#isSubscribed(topic)) this.#tail.requestKeyframe(topic)
      else this.#wantedKeyframes.delete(topic)
    }
  }

  /** Publishes an entry of the session's log. The session's end ends the connections. */
  onLogEntry(entry: SessionLogEvent): void {
    const { topic, logTimeNs, data } = logMessage(entry)
    const known = this.#channels.get(topic)
    if (known) this.#publish(known, { isVideo: false, isKeyframe: false, logTimeNs, data })
    if (!OVER.has(entry.data.status)) return
    this.#isOver = true
    for (const connection of this.#connections) closeOver(connection)
  }

  #onMessage({ topic, kind, isKeyframe, logTimeNs, data }: TailMessage): void {
    const known = this.#channelFor(topic, kind)
    if (!known) return
    // Each recorder sends the states that it knows, which may be old in one whose stream has moved to another.
    if (STATE_TOPICS.has(topic) && known.last && known.last.logTimeNs > logTimeNs) return
    if (isKeyframe) this.#wantedKeyframes.delete(topic)
    this.#publish(known, { isVideo: kind === 'video', isKeyframe, logTimeNs, data })
  }

  #publish(known: LiveChannel, message: ChannelMessage): void {
    if (known.kind === 'json') known.last = message
    for (const connection of this.#connections) connection.publish(known.channel.id, message)
  }

  /** Returns the channel of a topic. Advertises a camera with its first message, and again when its schema changes. */
  #channelFor(topic: string, kind: TailKind): LiveChannel | undefined {
    const known = this.#channels.get(topic)
    if (known?.kind === kind) return known
    const isCamera = kind !== 'json' && cameraOfTopic(topic) !== undefined
    if (!isCamera || (!known && this.#channels.size >= MAX_CAMERAS + Object.keys(recordingTopics).length))
      return undefined
    if (known) for (const connection of this.#connections) connection.unadvertise(known.channel.id)
    const added = this.#addChannel(topic, kind)
    for (const connection of this.#connections) connection.advertise([added.channel])
    return added
  }

  #addChannel(topic: string, kind: TailKind): LiveChannel {
    const definition = topicDefinition(topic, kind === 'image' ? 'CompressedImage' : 'CompressedVideo')
    const added: LiveChannel = { channel: channelOf(this.#nextId++, definition), kind, last: undefined }
    const replaced = this.#channels.get(topic)
    if (replaced) this.#topicOf.delete(replaced.channel.id)
    this.#channels.set(topic, added)
    this.#topicOf.set(added.channel.id, topic)
    return added
  }

  #isSubscribed(topic: string): boolean {
    const id = this.#channels.get(topic)?.channel.id
    return id !== undefined && [...this.#connections].some((each) => each.subscribedChannels.includes(id))
  }

  #wantKeyframe(topic: string): void {
    this.#wantedKeyframes.add(topic)
    this.#tail.requestKeyframe(topic)
  }
}

function closeOver(connection: ClientConnection): void {
  connection.sendStatus('info', 'The session is over. Connect again when its recording is ready.')
  connection.close(closings.sessionOver)
}
