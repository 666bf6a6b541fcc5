import { type Channel, FoxgloveClient, type StatusMessage } from '@foxglove/ws-protocol'
import WebSocket from 'ws'
import { waitFor } from '../world/wait.ts'

/** A message of a server that is not about channels: data, the time, or the state of the playback. */
export type Received =
  | { readonly type: 'message'; readonly topic: string; readonly ns: bigint; readonly data: Buffer }
  | { readonly type: 'time'; readonly ns: bigint }
  | {
      readonly type: 'state'
      readonly status: number
      readonly ns: bigint
      readonly speed: number
      readonly didSeek: boolean
      readonly requestId: string
    }

export type Message = Extract<Received, { type: 'message' }>
export type State = Extract<Received, { type: 'state' }>

/** A client of Foxglove: the library's, and playback control, which the library does not know. */
export class TestFoxgloveClient {
  readonly socket: WebSocket
  readonly client: FoxgloveClient
  readonly channels = new Map<string, Channel>()
  readonly received: Received[] = []
  readonly statuses: StatusMessage[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  info: any
  readonly #topicOf = new Map<number, string>()

  constructor(url: string, protocol = 'foxglove.sdk.v1', headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, [protocol], { headers })
    this.socket.binaryType = 'arraybuffer'
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    )
    this.socket.on('error', () => {}) // 'close' follows
    this.socket.on('message', (data: ArrayBuffer, isBinary: boolean) => {
      if (isBinary) this.#onBinary(Buffer.from(data))
    })
    this.client = new FoxgloveClient({
      ws: this.socket as unknown as ConstructorParameters<typeof FoxgloveClient>[0]['ws'],
    })
    this.client.on('error', () => {}) // the library does not know the state of the playback
    this.client.on('serverInfo', (info) => {
      this.info = info
    })
    this.client.on('status', (status) => this.statuses.push(status))
    this.client.on('advertise', (channels) => {
      for (const channel of channels) this.channels.set(channel.topic, channel)
    })
    this.client.on('unadvertise', (ids) => {
      for (const [topic, { id }] of this.channels) if (ids.includes(id)) this.channels.delete(topic)
    })
    this.client.on('time', ({ timestamp }) => this.received.push({ type: 'time', ns: timestamp }))
    this.client.on('message', ({ subscriptionId, timestamp, data }) =>
      this.received.push({
        type: 'message',
        topic: this.#topicOf.get(subscriptionId) ?? '',
        ns: timestamp,
        data: Buffer.from(data.buffer, data.byteOffset, data.byteLength),
      }),
    )
  }

  get messages(): Message[] {
    return this.received.filter((each) => each.type === 'message')
  }

  get states(): State[] {
    return this.received.filter((each) => each.type === 'state')
  }

  /** Settles when the channels are advertised, or the connection has ended. */
  async ready(): Promise<this> {
    await waitFor(() => this.#expect(this.channels.size > 0 || this.socket.readyState === WebSocket.CLOSED))
    return this
  }

  /** Waits for a channel and subscribes to it. */
  async subscribe(...topics: string[]): Promise<void> {
    for (const topic of topics) {
      await waitFor(() => this.#expect(this.channels.has(topic)))
      this.#topicOf.set(this.client.subscribe((this.channels.get(topic) as Channel).id), topic)
    }
  }

  messagesOf(topic: string): Message[] {
    return this.messages.filter((message) => message.topic === topic)
  }

  textsOf = (topic: string): string[] => this.messagesOf(topic).map(({ data }) => String(data))

  /** Sends a request of playback control. */
  control(request: { command?: 'play' | 'pause'; speed?: number; seekTo?: bigint; id: string }): void {
    const { command = 'pause', speed = 1, seekTo, id } = request
    const bytes = Buffer.alloc(19 + id.length)
    bytes[0] = 3
    bytes[1] = command === 'play' ? 0 : 1
    bytes.writeFloatLE(speed, 2)
    bytes[6] = seekTo === undefined ? 0 : 1
    bytes.writeBigUInt64LE(seekTo ?? 0n, 7)
    bytes.writeUInt32LE(id.length, 15)
    bytes.write(id, 19)
    this.socket.send(bytes)
  }

  /** Returns the answer to a request of playback control. */
  answer = (id: string): Promise<State> =>
    waitFor(() => {
      const state = this.states.find(({ requestId }) => requestId === id)
      if (!state) throw new Error(`no answer to ${id}`)
      return state
    })

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  #onBinary(bytes: Buffer): void {
    if (bytes[0] !== 5) return
    this.received.push({
      type: 'state',
      status: bytes.readUInt8(1),
      ns: bytes.readBigUInt64LE(2),
      speed: bytes.readFloatLE(10),
      didSeek: bytes.readUInt8(14) === 1,
      requestId: bytes.toString('utf8', 19, 19 + bytes.readUInt32LE(15)),
    })
  }

  #expect(condition: boolean): void {
    if (!condition) throw new Error('not yet')
  }
}
