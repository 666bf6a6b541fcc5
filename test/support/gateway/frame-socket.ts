import WebSocket from 'ws'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { closedSocket, type Received } from './received-frames.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
type Wire = any

/** A WebSocket as an independent client implements it: JSON frames. Binary frames have the type `binary`. */
export class FrameSocket {
  readonly socket: WebSocket
  readonly frames: Received[] = []
  /** Settles with the close code. */
  readonly closed: Promise<number>
  private waiting: (() => void)[] = []

  constructor(
    url: string,
    token: string,
    options: { headers?: Record<string, string>; protocols?: string[] } = {},
  ) {
    const headers = options.headers ?? { Authorization: `Bearer ${token}` }
    this.socket = new WebSocket(url, options.protocols ?? [], { headers })
    this.socket.on('message', (data: Buffer, isBinary) => {
      this.frames.push(isBinary ? { type: 'binary', data } : JSON.parse(String(data)))
      this.wake()
    })
    this.closed = closedSocket(this.socket, () => this.wake())
  }

  /** Sends a frame, once the socket is open. */
  send(frame: unknown): void {
    if (this.socket.readyState === WebSocket.CONNECTING)
      return void this.socket.once('open', () => this.send(frame))
    const raw = typeof frame === 'string' || frame instanceof Uint8Array
    this.socket.send(raw ? frame : JSON.stringify(frame))
  }

  /** Returns the first unread frame of this type; waits for it if necessary. */
  async next(type: string, timeoutMs = WAIT_LIMIT_MS): Promise<Wire> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const index = this.frames.findIndex((frame) => frame.type === type)
      if (index >= 0) return this.frames.splice(index, 1)[0]
      const leftMs = deadline - performance.now()
      const closed = this.socket.readyState >= WebSocket.CLOSING
      if (leftMs <= 0 || closed) {
        throw new Error(
          `no ${type} frame${closed ? ', socket closed' : ''}; got ${JSON.stringify(this.frames)}`,
        )
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** Breaks the connection without a closing handshake, like a lost network after TCP has noticed. */
  destroy(): void {
    this.socket.terminate()
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume()
  }
}

export class TestRobot extends FrameSocket {
  /** Sends heartbeats until the robot is closed. */
  beat(intervalMs = 200): this {
    let seq = 0
    const timer = setInterval(() => {
      if (this.socket.readyState === WebSocket.OPEN) this.send({ type: 'heartbeat', seq: seq++ })
    }, intervalMs)
    this.closed.finally(() => clearInterval(timer))
    return this
  }
}

/** An operator or an observer. */
export class TestDriver extends FrameSocket {
  #seq = 0

  /** Sends a control frame that a busy machine does not make expire; returns its number. */
  control(data: unknown = {}, frame: Record<string, unknown> = {}): number {
    this.#seq += 1
    this.send({ type: 'control', seq: this.#seq, t: performance.now(), ttl_ms: 10_000, data, ...frame })
    return this.#seq
  }

  /** Returns the next state for which this is true. */
  async state(predicate: (state: Wire) => boolean = () => true): Promise<Wire> {
    for (;;) {
      const state = await this.next('state')
      if (predicate(state)) return state
    }
  }
}
