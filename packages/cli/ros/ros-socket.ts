import { Backoff, type BackoffOptions } from '@wheelhouse/sdk'
import { WebSocket } from 'ws'
import { MAX_ROS_MESSAGE_BYTES, MAX_UNSENT_ROS_BYTES } from './source.ts'

/** TCP may notice a dead peer only after many minutes: a pong must follow each ping before the next one. */
const PING_EVERY_MS = 1_000
const CONNECT_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 500
/** base64 makes a picture four thirds as large. */
const MAX_FRAME_BYTES = Math.ceil((MAX_ROS_MESSAGE_BYTES * 4) / 3) + 1024 * 1024
/** The robot waits: a restarted bridge is found within a second. */
const RETRY: BackoffOptions = { baseMs: 100, maxMs: 1_000 }

interface RosSocketOptions {
  readonly url: string
  readonly protocols?: string[]
  readonly onOpen: () => void
  /** Called when an attempt failed or the connection ended, once until the next `onOpen`. */
  readonly onDown: (reason: string) => void
  readonly onText: (text: string) => void
  readonly onBinary: (data: Buffer) => void
  /** Called for errors that the handlers above throw. */
  readonly onProblem: (problem: string) => void
}

/** A WebSocket to a bridge of ROS that reconnects until it is closed. */
export class RosSocket {
  readonly #options: RosSocketOptions
  readonly #backoff = new Backoff(RETRY)
  #socket: WebSocket | null = null
  #retry: NodeJS.Timeout | undefined
  #ping: NodeJS.Timeout | undefined
  #isDown = false
  #closed = false

  constructor(options: RosSocketOptions) {
    this.#options = options
    this.#dial()
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  /** Sends one frame. Breaks the connection if the bridge does not read. @returns false if the frame was not sent */
  send(frame: string | Uint8Array): boolean {
    const socket = this.#socket
    if (socket?.readyState !== WebSocket.OPEN) return false
    if (socket.bufferedAmount > MAX_UNSENT_ROS_BYTES) {
      socket.terminate()
      return false
    }
    socket.send(frame, () => {}) // a failure closes the socket
    return true
  }

  /** Sends what is written, and closes. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retry)
    const socket = this.#socket
    if (!socket) return
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    const limit = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS)
    socket.close()
    await closed
    clearTimeout(limit)
  }

  #dial(): void {
    const { url, protocols = [] } = this.#options
    const socket = new WebSocket(url, protocols, {
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
    })
    this.#socket = socket
    let reason = 'it closed the connection'
    socket.on('open', () => {
      this.#backoff.reset()
      this.#isDown = false
      this.#watch(socket)
      this.#run(() => this.#options.onOpen())
    })
    socket.on('message', (data, isBinary) =>
      this.#run(() => {
        if (isBinary) this.#options.onBinary(data as Buffer)
        else this.#options.onText(String(data))
      }),
    )
    socket.on('error', (cause) => {
      reason = cause.message
    })
    socket.on('close', () => {
      clearInterval(this.#ping)
      this.#socket = null
      if (!this.#isDown && !this.#closed) {
        this.#isDown = true
        this.#run(() => this.#options.onDown(reason))
      }
      if (!this.#closed) this.#retry = setTimeout(() => this.#dial(), this.#backoff.nextDelayMs())
    })
  }

  #watch(socket: WebSocket): void {
    let answered = true
    socket.on('pong', () => {
      answered = true
    })
    this.#ping = setInterval(() => {
      if (!answered) return socket.terminate()
      answered = false
      socket.ping(() => {})
    }, PING_EVERY_MS)
  }

  /** No frame of a bridge may end the process. */
  #run(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#options.onProblem(cause instanceof Error ? cause.message : String(cause))
    }
  }
}
