import type { WebSocket } from 'uWebSockets.js'
import type { GatewayConnection, SocketData } from '../../../gateway/base/connection.ts'
import type { ConnectionHandlers } from '../../../gateway/server/server.ts'

/** The gateway's limit of uWebSockets, smaller, so that a test reaches it. */
const LIMIT_BYTES = 4_096
const ABNORMAL = 1006

export type Sent = string | ArrayBuffer

export interface FakePeer {
  /** Receives a frame of the gateway; the peer has not read `behind` earlier ones. */
  sent?(frame: Sent, behind: number): void
  /** Reads the frame as the peer. */
  read?(frame: Sent): void
}

/**
 * The gateway's end of a WebSocket with its peer, without a network: frames arrive immediately, unless the peer does
 * not read. Behaves as uWebSockets does: `end` calls the close handler before it returns, and the socket must not be
 * used afterwards.
 */
export class FakeSocket<L extends GatewayConnection = GatewayConnection> {
  readonly link: L
  /** Close code, after the socket was closed. */
  closed: number | null = null
  /** Unread frames in bytes, and their maximum. */
  unreadBytes = 0
  mostUnreadBytes = 0
  pings = 0
  /** Whether its library answers pings. */
  answersPings = true
  /** With more unread bytes than this it accepts no more frames. */
  limitBytes = LIMIT_BYTES
  readonly #handlers: ConnectionHandlers<L>
  readonly #peer: FakePeer
  #unread: Sent[] = []
  #reading = true

  constructor(link: L, handlers: ConnectionHandlers<L>, peer: FakePeer) {
    this.link = link
    this.#handlers = handlers
    this.#peer = peer
    link.attach(this as unknown as WebSocket<SocketData>) // all members that links use
    handlers.opened(link)
  }

  get open(): boolean {
    return this.closed === null
  }
  get reading(): boolean {
    return this.#reading
  }

  /** Sends a frame as the peer. */
  receiveFrame(frame: unknown): void {
    if (!this.open) return
    const isBinary = frame instanceof Uint8Array
    const bytes = isBinary ? frame : Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame))
    const memory = new Uint8Array(bytes).buffer
    this.#handlers.message(this.link, memory, isBinary)
    new Uint8Array(memory).fill(0xee) // uWebSockets reuses the memory
  }

  /** Answers the received pings, as the peer's library does. */
  pong(): void {
    if (!this.open || !this.#reading || !this.answersPings || this.pings === 0) return
    this.pings = 0
    this.#handlers.pong(this.link)
  }

  pause(): void {
    this.#reading = false
  }

  resume(): void {
    this.#reading = true
    this.readSome(this.#unread.length)
  }

  /** Reads this many of the unread frames as the peer. */
  readSome(count: number): void {
    const frames = this.#unread.splice(0, count)
    for (const frame of frames) {
      this.unreadBytes -= typeof frame === 'string' ? frame.length : frame.byteLength
      this.#peer.read?.(frame)
    }
    if (!this.open || frames.length === 0) return
    this.link.drained()
    this.#handlers.drained(this.link)
  }

  /** Ends the connection, as the peer or the network does. */
  lose(): void {
    if (this.open) this.#end(ABNORMAL)
  }

  // Called by the gateway:

  send(frame: Sent, isBinary: boolean): number {
    this.#mustBeOpen()
    if (isBinary === (typeof frame === 'string'))
      throw new Error('Text must be sent as text, and bytes as bytes.')
    const copy = typeof frame === 'string' ? frame : frame.slice(0)
    if (!this.#reading && this.unreadBytes > this.limitBytes) return 2
    this.#peer.sent?.(copy, this.#unread.length)
    if (this.#reading) {
      this.#peer.read?.(copy)
      return 1
    }
    this.#unread.push(copy)
    this.unreadBytes += typeof copy === 'string' ? copy.length : copy.byteLength
    this.mostUnreadBytes = Math.max(this.mostUnreadBytes, this.unreadBytes)
    return 0
  }
  getBufferedAmount(): number {
    this.#mustBeOpen()
    return this.unreadBytes
  }
  ping(): void {
    this.#mustBeOpen()
    this.pings++
  }
  end(code: number): void {
    this.#mustBeOpen()
    this.#end(code)
  }
  close(): void {
    this.#mustBeOpen()
    this.#end(ABNORMAL)
  }

  #mustBeOpen(): void {
    if (!this.open) throw new Error('Invalid access of closed uWS.WebSocket')
  }
  #end(code: number): void {
    this.closed = code
    this.#handlers.closed(this.link)
  }
}
