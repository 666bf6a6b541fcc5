import type { WebSocket } from 'uWebSockets.js'
import { type CloseReason, closeCodes } from '@wheelhouse/protocol'

/** Most bytes a peer may leave unread before frames that may be dropped are, and others close it. */
export const MAX_BUFFERED_BYTES = 256 * 1024
const WINDOW_MS = 1_000

/** What uWebSockets answers to a send: 0 queued behind unread bytes, 1 sent, 2 not taken at all. */
const SEND_QUEUED = 0
const SEND_DROPPED = 2

/** What hangs on every WebSocket of the gateway. */
export interface SocketData {
  readonly link: Link
}

/**
 * One WebSocket of the gateway and how well its peer keeps up. Times are whole milliseconds in the gateway's own
 * clock, since the process started. There is one per robot, so it stays small: no timers, no closures.
 */
export class Link {
  private socket: WebSocket<SocketData> | undefined
  lastSignMs: number
  /** Since when the socket has not drained; 0 while it flows. */
  blockedSinceMs = 0
  private frameWindowMs = 0
  private framesInWindow = 0
  /** In a row. */
  malformedFrames = 0

  constructor(nowMs: number) {
    this.lastSignMs = nowMs
  }

  get open(): boolean {
    return this.socket !== undefined
  }

  attach(socket: WebSocket<SocketData>): void {
    this.socket = socket
  }

  /** The socket is gone; nothing may be sent any more. */
  detach(): void {
    this.socket = undefined
  }

  /** Sends a frame that must arrive. A peer so slow that it cannot be queued is closed: it will come back. */
  send(frame: string | ArrayBuffer, nowMs: number): void {
    if (this.socket === undefined) return
    const result = this.socket.send(frame, typeof frame !== 'string')
    if (result === SEND_DROPPED) this.close('tooSlow')
    else if (result === SEND_QUEUED && this.blockedSinceMs === 0) this.blockedSinceMs = nowMs
  }

  /** Sends a frame that a slow peer may miss: nothing is queued behind what it has not read yet. */
  sendIfFlowing(frame: string | ArrayBuffer, nowMs: number): boolean {
    if (this.blockedSinceMs !== 0) return false
    this.send(frame, nowMs)
    return true
  }

  /** Asks the peer's library for a pong, unless it would wait behind what the peer has not read. */
  ping(): boolean {
    if (this.blockedSinceMs !== 0 || this.socket === undefined) return false
    this.socket.ping()
    return true
  }

  drained(): void {
    if (this.socket?.getBufferedAmount() === 0) this.blockedSinceMs = 0
  }

  /** Counts a frame; true when there were more than `limit` of them within a second. */
  isTooFast(limit: number, nowMs: number): boolean {
    if (nowMs - this.frameWindowMs >= WINDOW_MS) {
      this.frameWindowMs = nowMs
      this.framesInWindow = 0
    }
    return ++this.framesInWindow > limit
  }

  close(reason: CloseReason): void {
    this.socket?.end(closeCodes[reason].code, closeCodes[reason].reason)
  }

  /** Breaks the connection without a farewell: the peer is taken for dead. */
  cut(): void {
    this.socket?.close()
  }
}
