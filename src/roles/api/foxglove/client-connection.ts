import { WebSocket } from 'ws'
import { TokenBucket } from '../../../core/concurrency/token-bucket.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { ThreadTime } from '../../../core/process/thread-time.ts'
import { LatestWins, type ReplaceableMessage } from '../../../modules/recordings/transport/index.ts'
import { type ClientMessage, type PlaybackRequest, readClientMessage } from './client-messages.ts'
import { type Closing, closings } from './closings.ts'
import {
  advertisement,
  type Channel,
  type FoxgloveProtocol,
  messageData,
  type StatusLevel,
  statusMessage,
  timeMessage,
} from './wire.ts'

/** Subscriptions of one connection of Foxglove. */
const MAX_SUBSCRIPTIONS = 256

/** The channels that a client knows, and its subscriptions to them. */
export class Subscriptions {
  readonly #channelIds = new Set<number>()
  readonly #subscriptionOf = new Map<number, number>()
  readonly #channelOf = new Map<number, number>()

  /** The subscribed channels. */
  get channelIds(): readonly number[] {
    return [...this.#subscriptionOf.keys()]
  }

  /** Returns the subscription to a channel. */
  idOf(channelId: number): number | undefined {
    return this.#subscriptionOf.get(channelId)
  }

  addChannel(channelId: number): void {
    this.#channelIds.add(channelId)
  }

  /** Removes a channel and the subscription to it. */
  removeChannel(channelId: number): void {
    this.#channelIds.delete(channelId)
    const id = this.#subscriptionOf.get(channelId)
    if (id !== undefined) this.remove(id)
  }

  /** Adds a subscription. Returns why it is refused, or undefined. */
  add(id: number, channelId: number): string | undefined {
    if (this.#subscriptionOf.size >= MAX_SUBSCRIPTIONS)
      return `A connection has at most ${MAX_SUBSCRIPTIONS} subscriptions.`
    if (!this.#channelIds.has(channelId)) return `No channel has the id ${channelId}.`
    if (this.#channelOf.has(id)) return `The subscription ${id} exists. Use another id.`
    if (this.#subscriptionOf.has(channelId)) return `The channel ${channelId} is already subscribed to.`
    this.#subscriptionOf.set(channelId, id)
    this.#channelOf.set(id, channelId)
    return undefined
  }

  /** Removes a subscription. Returns its channel, or undefined. */
  remove(id: number): number | undefined {
    const channelId = this.#channelOf.get(id)
    if (channelId === undefined) return undefined
    this.#channelOf.delete(id)
    this.#subscriptionOf.delete(channelId)
    return channelId
  }
}

/** Bytes that may wait for a client, before only the newest message of each channel waits. */
const MAX_BUFFERED_BYTES = 1024 * 1024
/** How long a client may give no sign of life, and how long it may accept no bytes. */
const SILENCE_LIMIT_MS = 10_000
const PING_MS = 3_000
/** How long a closing handshake may take. */
const CLOSE_LIMIT_MS = 1_000
/** Messages of a client: a client that subscribes to each channel at once sends a burst. */
const MESSAGE_LIMIT = { burst: 1_000, refillMs: 10_000 }
/** Bytes of a client, many times what subscribing to every channel takes. This process also serves stops. */
const BYTE_LIMIT = { burst: 256 * 1024, refillMs: 10_000 }
/** Answers to messages that are refused. */
const STATUS_LIMIT = { burst: 20, refillMs: 10_000 }

/** A message of a channel. */
export interface ChannelMessage extends ReplaceableMessage {
  readonly logTimeNs: bigint
  readonly data: Uint8Array
}

/** The source of the data of a connection. */
export interface ConnectionSource {
  /** Begins to send a channel that the client has subscribed to. */
  subscribed(connection: ClientConnection, channelId: number): void
  unsubscribed?(connection: ClientConnection, channelId: number): void
  /** Notes that video of a channel was skipped, because the client is slow. */
  skipped?(connection: ClientConnection, channelId: number): void
  playbackRequested?(connection: ClientConnection, request: PlaybackRequest): void
  closed(connection: ClientConnection): void
}

/** The connection of one client of Foxglove: its channels and subscriptions, and the messages that wait for it. */
export class ClientConnection {
  readonly protocol: FoxgloveProtocol
  readonly #socket: WebSocket
  readonly #source: ConnectionSource
  readonly #threadTime: ThreadTime
  readonly #userId: string
  readonly #subscriptions = new Subscriptions()
  readonly #queue: LatestWins<number, ChannelMessage>
  readonly #written: (failure?: Error | null) => void
  readonly #messages = new TokenBucket(MESSAGE_LIMIT, performance.now())
  readonly #bytes = new TokenBucket(BYTE_LIMIT, performance.now())
  readonly #statuses = new TokenBucket(STATUS_LIMIT, performance.now())
  #drained = Promise.withResolvers<void>()
  #aliveAtMs = performance.now()
  /** When the client last accepted bytes, or none waited for it. */
  #acceptedAtMs = performance.now()
  #pingedAtMs = performance.now()
  #closingAtMs: number | undefined

  constructor(
    socket: WebSocket,
    deps: {
      readonly protocol: FoxgloveProtocol
      readonly source: ConnectionSource
      readonly guard: Guard
      readonly threadTime: ThreadTime
      /** The account that pays for the messages. */
      readonly userId: string
      readonly onClosed: () => void
    },
  ) {
    const { guard } = deps
    this.#threadTime = deps.threadTime
    this.#userId = deps.userId
    this.#socket = socket
    this.#source = deps.source
    this.protocol = deps.protocol
    this.#queue = new LatestWins({
      limitBytes: MAX_BUFFERED_BYTES,
      bufferedBytes: () => socket.bufferedAmount,
      write: (channelId, message) => this.#write(channelId, message),
      onSkipped: (channelId) => this.#source.skipped?.(this, channelId),
    })
    this.#written = guard.handler('foxglove:written', (failure) => this.#onWritten(failure))
    const fail = () => this.close(closings.internalError)
    guard.on(socket, 'error', 'foxglove:error', () => {}) // 'close' follows, with 1009 for a message that is too large
    guard.on(socket, 'pong', 'foxglove:pong', () => this.#alive())
    guard.on(
      socket,
      'message',
      'foxglove:message',
      (data: Buffer, isBinary: boolean) => this.#onMessage(data, isBinary),
      fail,
    )
    guard.on(socket, 'close', 'foxglove:close', () => {
      this.#queue.clear()
      this.#drained.resolve()
      deps.onClosed()
      this.#source.closed(this)
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** The subscribed channels. */
  get subscribedChannels(): readonly number[] {
    return this.#subscriptions.channelIds
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount > MAX_BUFFERED_BYTES
  }

  /** Sends a control message, which is never left out. */
  send(message: string | Buffer): void {
    if (this.isOpen) this.#socket.send(message, this.#written)
  }

  advertise(channels: readonly Channel[]): void {
    for (const { id } of channels) this.#subscriptions.addChannel(id)
    if (channels.length > 0) this.send(advertisement(channels))
  }

  unadvertise(channelId: number): void {
    this.#subscriptions.removeChannel(channelId)
    this.#queue.remove(channelId)
    this.send(JSON.stringify({ op: 'unadvertise', channelIds: [channelId] }))
  }

  /** Sends a message, if the client has subscribed to its channel. */
  publish(channelId: number, message: ChannelMessage): void {
    const isSubscribed = this.#subscriptions.idOf(channelId) !== undefined
    if (this.isOpen && isSubscribed) this.#queue.add(channelId, message)
  }

  /** Settles when the client accepts more bytes, or is gone. */
  async drained(): Promise<void> {
    while (this.isOpen && this.#isFull) await this.#drained.promise
  }

  /** Forgets the messages that wait, before a jump in time. */
  discardWaiting(): void {
    this.#queue.clear()
  }

  sendTime(ns: bigint): void {
    if (!this.#isFull) this.send(timeMessage(ns))
  }

  sendStatus(level: StatusLevel, text: string): void {
    this.send(statusMessage(level, text))
  }

  close({ code, reason }: Closing): void {
    this.#queue.clear()
    this.#closingAtMs ??= performance.now()
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }

  /** Sends a ping from time to time. Ends a connection that gives no sign of life, accepts no bytes, or does not close. */
  check(nowMs: number): void {
    if (this.#socket.bufferedAmount === 0) this.#acceptedAtMs = nowMs
    const silentMs = nowMs - Math.min(this.#aliveAtMs, this.#acceptedAtMs)
    const closingMs = nowMs - (this.#closingAtMs ?? nowMs)
    if (silentMs > SILENCE_LIMIT_MS || closingMs > CLOSE_LIMIT_MS) this.#socket.terminate()
    else if (this.isOpen && nowMs - this.#pingedAtMs >= PING_MS) {
      this.#pingedAtMs = nowMs
      this.#socket.ping()
    }
  }

  #alive(): void {
    this.#aliveAtMs = performance.now()
  }

  #write(channelId: number, { logTimeNs, data }: ChannelMessage): void {
    const subscriptionId = this.#subscriptions.idOf(channelId)
    if (subscriptionId !== undefined) this.send(messageData(subscriptionId, logTimeNs, data))
  }

  #onWritten(failure: Error | null | undefined): void {
    if (failure) return // 'close' follows
    this.#alive()
    this.#acceptedAtMs = performance.now()
    this.#queue.flush()
    if (this.#isFull) return
    this.#drained.resolve()
    this.#drained = Promise.withResolvers()
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    this.#alive()
    if (!this.isOpen) return
    const nowMs = performance.now()
    const isTooFast = this.#messages.take(nowMs) > 0 || this.#bytes.take(nowMs, data.length) > 0
    if (isTooFast || this.#threadTime.waitMs(this.#userId) > 0) return this.#endFlood()
    this.#handle(readClientMessage(data, isBinary))
    // Every message counts, however short: an account may have many connections.
    this.#threadTime.charge(this.#userId, performance.now() - nowMs)
  }

  /** Closes the connection and reads nothing more of it, also not the rest of the flood. */
  #endFlood(): void {
    this.close(closings.tooFast)
    this.#socket.pause()
  }

  #handle(message: ClientMessage): void {
    switch (message.op) {
      case 'subscribe':
        return this.#subscribe(message.subscriptions)
      case 'unsubscribe':
        for (const id of message.subscriptionIds) this.#unsubscribe(id)
        return
      case 'playback':
        if (!this.#source.playbackRequested) return this.#refuse('A live session has no playback control.')
        return this.#source.playbackRequested(this, message.request)
      case 'refused':
        return this.#refuse(message.reason)
    }
  }

  #subscribe(requested: readonly { id: number; channelId: number }[]): void {
    for (const { id, channelId } of requested) {
      const problem = this.#subscriptions.add(id, channelId)
      if (problem === undefined) this.#source.subscribed(this, channelId)
      else this.#refuse(problem)
    }
  }

  #unsubscribe(id: number): void {
    const channelId = this.#subscriptions.remove(id)
    if (channelId === undefined) return this.#refuse(`No subscription has the id ${id}.`)
    this.#queue.remove(channelId)
    this.#source.unsubscribed?.(this, channelId)
  }

  /** Answers a message that the connection does not support. A flood of them gets no more answers. */
  #refuse(reason: string): void {
    if (this.#statuses.take(performance.now()) === 0) this.sendStatus('warning', reason)
  }
}
