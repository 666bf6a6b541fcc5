import type { WebSocket } from 'uWebSockets.js'
import { type CloseReason, closeCodes, MAX_FRAME_BYTES } from '@wheelhouse/protocol'

/** Most bytes a peer may leave unread before frames that may be dropped are, and others close it. */
export const MAX_BUFFERED_BYTES = 256 * 1024
/** Frames a peer may send in one second: room for control, or its acknowledgements, at 200 Hz and rich telemetry. */
const MAX_FRAMES_PER_SECOND = 1_000
const WINDOW_MS = 1_000
/** After so many malformed frames in a row the peer does not speak this protocol. */
const MAX_MALFORMED_FRAMES = 5

/** What uWebSockets answers to a send: 0 queued behind unread bytes, 1 sent, 2 not taken at all. */
const SEND_QUEUED = 0
const SEND_DROPPED = 2

/** What hangs on every WebSocket of the gateway. */
export interface SocketData {
  readonly connection: GatewayConnection
}

/**
 * One WebSocket of the gateway and how well its peer keeps up. Times are whole milliseconds in the gateway's own
 * clock, since the process started. There is one per robot, so it stays small: no timers, no closures.
 */
export class GatewayConnection {
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
    return this.socket.ping() !== SEND_DROPPED
  }

  drained(): void {
    if (this.socket?.getBufferedAmount() === 0) this.blockedSinceMs = 0
  }

  /** False when a frame must not be read: too many, or too large. Answers the peer itself. */
  acceptFrame(bytes: number, nowMs: number): boolean {
    if (nowMs - this.frameWindowMs >= WINDOW_MS) {
      this.frameWindowMs = nowMs
      this.framesInWindow = 0
    }
    if (++this.framesInWindow > MAX_FRAMES_PER_SECOND) {
      this.close('tooFast')
      return false
    }
    if (bytes <= MAX_FRAME_BYTES) return true
    // Not counted as malformed: it may be a picture that grew, of a robot that is otherwise in order.
    const message = `A frame may have at most ${MAX_FRAME_BYTES} bytes`
    this.sendIfFlowing(JSON.stringify({ type: 'error', message }), nowMs)
    return false
  }

  /** Answers a frame that could not be read; a peer that sends nothing else is closed. `about`: what it was about. */
  malformed(message: string, nowMs: number, about?: { episode_id: string }): void {
    this.malformedFrames++
    this.sendIfFlowing(JSON.stringify({ type: 'error', message, ...about }), nowMs)
    if (this.malformedFrames >= MAX_MALFORMED_FRAMES) this.close('protocolError')
  }

  close(reason: CloseReason): void {
    this.socket?.end(closeCodes[reason].code, closeCodes[reason].reason)
  }

  /** Breaks the connection without a farewell: the peer is taken for dead. */
  terminate(): void {
    this.socket?.close()
  }
}
