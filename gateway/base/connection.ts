import type { WebSocket } from 'uWebSockets.js'
import { type CloseReason, closeCodes, MAX_FRAME_BYTES } from '@wheelhouse/protocol'

/** Most bytes that may wait for a peer. Beyond it, droppable frames are dropped, and others close the connection. */
export const MAX_BUFFERED_BYTES = 256 * 1024
/** Frames a peer may send in one second: room for control, or its acknowledgements, at 200 Hz and rich telemetry. */
const MAX_FRAMES_PER_SECOND = 1_000
/** Bytes that a peer may send in one second in frames larger than `SMALL_FRAME_BYTES`: a megabyte, as 16 of the largest frames. */
export const byteBudget = { perSecond: 1024 * 1024 }
/** Heartbeats and stops are smaller, also a stop with the longest reason in escaped characters: they are limited by number only. */
const SMALL_FRAME_BYTES = 4 * 1024
const WINDOW_MS = 1_000
/** A peer that sends this many malformed frames in a row does not speak the protocol. */
const MAX_MALFORMED_FRAMES = 5

/** Results of a send in uWebSockets: 0 queued behind unread bytes, 1 sent, 2 dropped. */
const SEND_QUEUED = 0
const SEND_DROPPED = 2

/** User data of every WebSocket of the gateway. */
export interface SocketData {
  readonly connection: GatewayConnection
}

/** The data channel beside a WebSocket, as its connection sees it. */
export interface ConnectionChannel {
  /** Whether frames may use this channel only: it delivered lately, in both directions. */
  readonly trusted: boolean
  /** Sends a frame that may be lost. Returns false if it was not sent. */
  send(frame: string | Uint8Array): boolean
  /** Sends a probe if one is due. Call it while frames pass. */
  probe(): void
  /** Answers a probe of the peer. */
  answerProbe(number: number): void
  /** Notes the answer to a probe; returns the round trip, undefined for an unknown number. */
  probeAnswered(number: number): number | undefined
  close(): void
}

/**
 * One WebSocket of the gateway: sends with back-pressure, and limits what its peer sends. Times are whole milliseconds
 * in the gateway's own clock, since the process started. There is one per robot, so it is small: it has neither timers
 * nor closures.
 */
export abstract class GatewayConnection {
  /** The account that is charged for the frames: the owner of a robot, or the user of a ticket. */
  abstract readonly account: string
  #socket: WebSocket<SocketData> | undefined
  #lastSignMs: number
  #blockedSinceMs = 0
  #frameWindowMs = 0
  #framesInWindow = 0
  #bytesInWindow = 0
  #warnedInWindow = false
  /** Malformed frames in a row. */
  #malformedFrames = 0
  #channel: ConnectionChannel | null = null
  #lastOfferMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: number) {
    this.#lastSignMs = nowMs
  }

  /** When the peer last gave a sign of life. */
  get lastSignMs(): number {
    return this.#lastSignMs
  }

  recordSign(nowMs: number): void {
    this.#lastSignMs = nowMs
  }

  /** Since when the socket has not drained; 0 while it flows. */
  get blockedSinceMs(): number {
    return this.#blockedSinceMs
  }

  get open(): boolean {
    return this.#socket !== undefined
  }

  attach(socket: WebSocket<SocketData>): void {
    this.#socket = socket
  }

  /** Notes that the socket is closed: uWebSockets throws on any further use of it. Its data channel ends with it. */
  detach(): void {
    this.#socket = undefined
    this.setChannel(null)
  }

  /** The data channel; null without one. It may not be open yet. */
  get channel(): ConnectionChannel | null {
    return this.#channel
  }

  /** Replaces the data channel and closes the earlier one. */
  setChannel(channel: ConnectionChannel | null): void {
    const before = this.#channel
    this.#channel = channel
    before?.close()
  }

  /** When the peer last offered a data channel. */
  get lastOfferMs(): number {
    return this.#lastOfferMs
  }

  recordOffer(nowMs: number): void {
    this.#lastOfferMs = nowMs
  }

  /** Sends a frame that must arrive. Closes a peer that is too slow for it, which then reconnects. */
  send(frame: string | ArrayBuffer, nowMs: number): void {
    if (this.#socket === undefined) return
    const result = this.#socket.send(frame, typeof frame !== 'string')
    if (result === SEND_DROPPED) this.close('tooSlow')
    else if (result === SEND_QUEUED && this.#blockedSinceMs === 0) this.#blockedSinceMs = nowMs
  }

  /** Sends a frame that a slow peer may miss. Returns false if the peer has not read earlier frames yet. */
  sendIfFlowing(frame: string | ArrayBuffer, nowMs: number): boolean {
    if (this.#blockedSinceMs !== 0) return false
    this.send(frame, nowMs)
    return true
  }

  /** Sends a frame that may be lost, over the data channel as long as that delivers. */
  sendFast(frame: string, nowMs: number): boolean {
    if (this.#channel?.trusted && this.#channel.send(frame)) return true
    return this.sendIfFlowing(frame, nowMs)
  }

  /** Pings the peer's library, unless the ping would wait behind unread frames. Returns whether it was sent. */
  ping(): boolean {
    if (this.#blockedSinceMs !== 0 || this.#socket === undefined) return false
    return this.#socket.ping() !== SEND_DROPPED
  }

  drained(): void {
    if (this.#socket?.getBufferedAmount() === 0) this.#blockedSinceMs = 0
  }

  /**
   * Returns false for a frame that must not be read: one of too many, or of too many bytes. Answers the peer itself.
   * @param backlogMs the length of a stall whose frames are read now
   */
  acceptFrame(bytes: number, nowMs: number, backlogMs: number): boolean {
    if (nowMs - this.#frameWindowMs >= WINDOW_MS) {
      this.#frameWindowMs = nowMs
      this.#framesInWindow = 0
      this.#bytesInWindow = 0
      this.#warnedInWindow = false
    }
    const windowShare = 1 + backlogMs / 1_000
    if (++this.#framesInWindow > MAX_FRAMES_PER_SECOND * windowShare) {
      this.close('tooFast')
      return false
    }
    if (bytes <= SMALL_FRAME_BYTES) return true
    // Neither counts as malformed: it may be a camera image that grew, of a robot that works.
    if (bytes > MAX_FRAME_BYTES) {
      this.#refuse(`A frame may have at most ${MAX_FRAME_BYTES} bytes. Send a smaller one.`, nowMs)
      return false
    }
    this.#bytesInWindow += bytes
    if (this.#bytesInWindow <= byteBudget.perSecond * windowShare) return true
    this.#refuse(`At most ${byteBudget.perSecond} bytes a second. Send smaller frames, or fewer.`, nowMs)
    return false
  }

  /** Warns the peer once a second that frames are refused, because its account has used its share of this busy gateway. */
  refuseBusy(nowMs: number): void {
    if (this.#warnedInWindow) return
    this.#warnedInWindow = true
    this.#refuse(
      'The gateway is busy, and your account sends the most work. Send smaller frames, or fewer.',
      nowMs,
    )
  }

  #refuse(message: string, nowMs: number): void {
    this.sendIfFlowing(JSON.stringify({ type: 'error', message }), nowMs)
  }

  /** Answers a malformed frame, and closes a peer that sends nothing else. `about` names the subject of the frame. */
  malformed(message: string, nowMs: number, about?: { episode_id: string }): void {
    this.#malformedFrames++
    this.sendIfFlowing(JSON.stringify({ type: 'error', message, ...about }), nowMs)
    if (this.#malformedFrames >= MAX_MALFORMED_FRAMES) this.close('protocolError')
  }

  /** Ends a series of malformed frames. */
  recordWellFormed(): void {
    this.#malformedFrames = 0
  }

  close(reason: CloseReason): void {
    this.setChannel(null) // at once: the socket may wait for a handshake
    this.#socket?.end(closeCodes[reason].code, closeCodes[reason].reason)
  }

  /** Breaks the connection without a close frame: the peer counts as dead. */
  terminate(): void {
    this.setChannel(null)
    this.#socket?.close()
  }
}
