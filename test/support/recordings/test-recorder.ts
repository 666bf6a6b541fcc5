import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import {
  type FromRecorder,
  FromSource,
  readSamples,
  type StreamSample,
} from '../../../src/modules/recordings/transport/sample-wire.ts'

/** A stream as the recorder received it. */
export interface ReceivedStream {
  readonly open: Extract<FromSource, { type: 'open' }>
  readonly samples: StreamSample[]
  readonly gaps: Extract<FromSource, { type: 'gap' }>[]
  isClosed: boolean
  readonly authorization: string
  /** Sends a message to the source. */
  send(message: FromRecorder): void
  /** Acknowledges all samples so far. */
  acknowledge(): void
}

/** A recorder that keeps everything in memory. Without `acknowledges`, it acknowledges nothing by itself. */
export class TestRecorder {
  readonly id: string
  readonly port: number
  readonly streams: ReceivedStream[] = []
  readonly #server: WebSocketServer
  readonly #acknowledges: boolean

  private constructor(id: string, server: WebSocketServer, acknowledges: boolean) {
    this.id = id
    this.port = (server.address() as AddressInfo).port
    this.#server = server
    this.#acknowledges = acknowledges
    server.on('connection', (socket, request) => this.#connected(socket, request.headers.authorization ?? ''))
  }

  static async start({
    id,
    port = 0,
    acknowledges = true,
  }: {
    id: string
    port?: number
    acknowledges?: boolean
  }): Promise<TestRecorder> {
    const server = new WebSocketServer({ host: '127.0.0.1', port })
    await once(server, 'listening')
    return new TestRecorder(id, server, acknowledges)
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`
  }

  /** Returns the streams of a source, in the order in which they were opened. */
  streamsOf(source: string): ReceivedStream[] {
    return this.streams.filter(({ open }) => open.source === source)
  }

  #connected(socket: WebSocket, authorization: string): void {
    const open = new Map<number, ReceivedStream>()
    socket.on('error', () => {})
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary)
        return this.#handle(FromSource.parse(JSON.parse(String(data))), socket, open, authorization)
      const concerned = new Set<ReceivedStream>()
      for (const sample of readSamples(data)) {
        const stream = open.get(sample.stream)
        if (!stream) throw new Error(`A sample of stream ${sample.stream}, which is not open`)
        stream.samples.push(sample)
        concerned.add(stream)
      }
      if (this.#acknowledges) for (const stream of concerned) stream.acknowledge()
    })
  }

  #handle(
    message: FromSource,
    socket: WebSocket,
    open: Map<number, ReceivedStream>,
    authorization: string,
  ): void {
    if (message.type === 'open') {
      const send = (answer: FromRecorder) => socket.send(JSON.stringify(answer))
      const stream: ReceivedStream = {
        authorization,
        open: message,
        samples: [],
        gaps: [],
        isClosed: false,
        send,
        acknowledge: () => {
          const last = stream.samples.at(-1)
          if (last) send({ type: 'ack', stream: message.stream, upToMs: last.atMs })
        },
      }
      open.set(message.stream, stream)
      this.streams.push(stream)
      return
    }
    const stream = open.get(message.stream)
    if (!stream) throw new Error(`A message of stream ${message.stream}, which is not open`)
    if (message.type === 'gap') stream.gaps.push(message)
    else {
      stream.isClosed = true
      open.delete(message.stream)
      if (this.#acknowledges) stream.acknowledge()
    }
  }

  /** Settles when the sources have read all messages sent before. */
  async hasBeenRead(): Promise<void> {
    const answers = [...this.#server.clients].map((socket) => {
      const pong = once(socket, 'pong')
      socket.ping()
      return pong
    })
    await Promise.all(answers)
  }

  /** Ends at once, as a process that is killed. */
  async kill(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate()
    this.#server.close()
    await once(this.#server, 'close').catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
