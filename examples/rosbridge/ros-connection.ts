import { Backoff, type BackoffOptions } from '@wheelhouse/sdk'
import { WebSocket } from 'ws'
import { LiveSockets } from './live-sockets.ts'
import { OpRefused, readServerOp } from './ops.ts'

/** Above this many unsent bytes, rosbridge does not read. Queued commands must not reach the robot later. */
const MAX_UNSENT_BYTES = 64 * 1024
const MAX_RECEIVED_BYTES = 1024 * 1024
const CONNECT_LIMIT_MS = 5_000

export interface RosConnectionOptions {
  /** `ws://robot:9090` */
  readonly url: string
  readonly reconnect?: BackoffOptions
  /** Called after every connect. Advertise and subscribe in it. */
  readonly onOpen: () => void
  readonly onClose: () => void
  readonly onMessage: (topic: string, msg: unknown) => void
  /** Called for `status` frames of rosbridge, malformed frames, and socket errors. */
  readonly onError: (cause: Error) => void
}

/** A client of rosbridge_server that reconnects. */
export class RosConnection {
  readonly #options: RosConnectionOptions
  readonly #backoff: Backoff
  readonly #live = new LiveSockets()
  #socket: WebSocket | null = null
  #retry: NodeJS.Timeout | undefined
  #ended = false

  constructor(options: RosConnectionOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#dial()
  }

  /** Sends one frame. Returns false without a connection. Terminates a connection with too many unsent bytes. */
  send(op: Record<string, unknown>): boolean {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) return false
    if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
      socket.terminate()
      return false
    }
    socket.send(JSON.stringify(op))
    return true
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#retry)
    this.#live.close()
    const socket = this.#socket
    if (!socket) return
    const closed = new Promise((done) => socket.once('close', done))
    const limit = setTimeout(() => socket.terminate(), 1_000)
    socket.close()
    await closed
    clearTimeout(limit)
  }

  #dial(): void {
    const socket = new WebSocket(this.#options.url, {
      handshakeTimeout: CONNECT_LIMIT_MS,
      maxPayload: MAX_RECEIVED_BYTES,
      perMessageDeflate: false,
    })
    this.#socket = socket
    socket.on('open', () => {
      this.#backoff.reset()
      this.#live.watch(socket)
      this.#options.onOpen()
    })
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#receive(String(data))
    })
    socket.on('error', (cause) => this.#options.onError(cause))
    socket.on('close', () => {
      this.#socket = null
      this.#options.onClose()
      if (!this.#ended) this.#retry = setTimeout(() => this.#dial(), this.#backoff.nextDelayMs())
    })
  }

  #receive(text: string): void {
    try {
      const op = readServerOp(text)
      if (op?.op === 'publish') this.#options.onMessage(op.topic, op.msg)
      else if (op?.op === 'status') this.#options.onError(new Error(`rosbridge: ${op.level}: ${op.msg}`))
    } catch (cause) {
      if (!(cause instanceof OpRefused)) throw cause
      this.#options.onError(cause)
    }
  }
}
