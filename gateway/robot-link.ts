import type { WebSocket } from 'uWebSockets.js'
import { type CloseReason, closeCodes, type RobotSession } from '@wheelhouse/protocol'

/** Most bytes a robot may leave unread before frames that may be dropped are, and others close it. */
export const MAX_BUFFERED_BYTES = 256 * 1024

/**
 * One connection of a robot and all that is kept for it. There is one per robot, so it stays small: whole
 * numbers in the gateway's own clock (milliseconds since the process started), no timers, no closures.
 */
export class RobotLink {
  readonly robotId: string
  readonly tokenVersion: number
  private socket: WebSocket<{ link: RobotLink }> | undefined
  /** 0 until the database has let this connection in. */
  epoch = 0
  lastSignMs: number
  /** 0 until the first heartbeat. */
  lastBeatMs = 0
  /** Which part of the second its heartbeat is written in; -1 until the first. */
  slice = -1
  /** Its newest heartbeat is not in the database yet. */
  beatUnsaved = false
  /** Since when the socket has not drained; 0 while it flows. */
  blockedSinceMs = 0
  frameWindowMs = 0
  framesInWindow = 0
  malformedFrames = 0
  session: RobotSession | null = null
  /** Which stretch of ACTIVE time of its session the robot has been told of last. */
  activeSinceMs = 0
  /** Reason of the latched stop that the robot has been told of; null while none is in force. */
  stopReason: string | null = null
  /** When the robot was last told of it; 0 once it has said that it stands, or while no stop is in force. */
  stopSentMs = 0
  /** Frames that came before the database answered; undefined afterwards. */
  early: string[] | undefined = undefined

  constructor(robotId: string, tokenVersion: number, nowMs: number) {
    this.robotId = robotId
    this.tokenVersion = tokenVersion
    this.lastSignMs = nowMs
  }

  get open(): boolean {
    return this.socket !== undefined
  }

  attach(socket: WebSocket<{ link: RobotLink }>): void {
    this.socket = socket
  }

  /** The socket is gone; nothing may be sent any more. */
  detach(): void {
    this.socket = undefined
  }

  /** Sends a frame that must arrive. A peer so slow that it cannot be queued is closed: it will come back. */
  send(frame: string, nowMs: number): void {
    if (this.socket === undefined) return
    const result = this.socket.send(frame, false)
    if (result === SEND_DROPPED) this.close('tooSlow')
    else if (result === SEND_QUEUED && this.blockedSinceMs === 0) this.blockedSinceMs = nowMs
  }

  /** Sends a frame that a slow peer may miss: nothing is queued behind what it has not read yet. */
  sendIfFlowing(frame: string, nowMs: number): boolean {
    if (this.blockedSinceMs !== 0) return false
    this.send(frame, nowMs)
    return true
  }

  drained(): void {
    if (this.socket?.getBufferedAmount() === 0) this.blockedSinceMs = 0
  }

  close(reason: CloseReason): void {
    this.socket?.end(closeCodes[reason].code, closeCodes[reason].reason)
  }

  /** Breaks the connection without a farewell: the peer is taken for dead. */
  cut(): void {
    this.socket?.close()
  }
}

/** What uWebSockets answers to a send: 0 queued behind unread bytes, 1 sent, 2 not taken at all. */
const SEND_QUEUED = 0
const SEND_DROPPED = 2
