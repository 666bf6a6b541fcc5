import { encodeOrderedFrame, type FrameOrder } from '@wheelhouse/protocol'
import type { GatewayConnection } from '../base/connection.ts'

/** Highest order. At 1,000 frames a second a connection reaches it after seven weeks, and reconnects. */
const MAX_ORDER = 0xff_ff_ff_ff

/**
 * Sends the frames whose order matters to one robot: control, goals, stops and changes of the session. Without a data channel, the WebSocket
 * keeps their order. Once an offer of the robot is answered, frames travel over two transports, so each is numbered, and the robot
 * ignores those that are overtaken or arrive twice.
 */
export class OrderedFrames {
  readonly #connection: GatewayConnection
  #numbered = false
  #order = 0
  /** The order of the newest session frame. */
  #after = 0

  constructor(connection: GatewayConnection) {
    this.#connection = connection
  }

  /** Numbers all later frames. Call it before the answer is sent: the robot knows from then on that frames have numbers. */
  beginNumbering(): void {
    this.#numbered = true
  }

  /**
   * Sends a control frame over the data channel if it delivers, else over both transports. Returns false if the robot has not read
   * earlier frames and no channel is open.
   */
  sendControl(frame: string | ArrayBuffer, nowMs: number): boolean {
    if (!this.#numbered) return this.#connection.sendIfFlowing(frame, nowMs)
    const numbered = this.#number(frame)
    const { channel } = this.#connection
    const trusted = channel?.trusted === true
    const sent = channel?.send(typeof numbered === 'string' ? numbered : new Uint8Array(numbered)) === true
    if (sent && trusted) return true
    return this.#connection.sendIfFlowing(numbered, nowMs) || sent
  }

  /**
   * Sends a goal over the WebSocket. The robot ignores it after a later command or stop that overtook it. Returns false if the robot has
   * not read earlier frames.
   */
  sendGoal(frame: string, nowMs: number): boolean {
    return this.#connection.sendIfFlowing(this.#numberAlone(frame), nowMs)
  }

  /** Sends a stop, or the end of a goal, over both transports at once. */
  sendStop(frame: string, nowMs: number): void {
    this.#sendTwice(this.#numberAlone(frame), nowMs)
  }

  /** Sends a stop again, which a robot that does not read may miss on the WebSocket. */
  repeatStop(frame: string, nowMs: number): void {
    const numbered = this.#numberAlone(frame)
    this.#connection.channel?.send(numbered)
    this.#connection.sendIfFlowing(numbered, nowMs)
  }

  /** Sends the end of a latched stop, over the WebSocket: until then the robot stays halted. */
  sendStopCleared(frame: string, nowMs: number): void {
    this.#connection.send(this.#numberAlone(frame), nowMs)
  }

  /** Sends the allowed speed over both transports at once, before the first control frame that it concerns. */
  sendLimits(frame: string, nowMs: number): void {
    this.#sendTwice(this.#numbered ? this.#numberText(frame) : frame, nowMs)
  }

  /** Sends a change of the session, over the WebSocket. The robot obeys no later control frame before it. */
  sendSession(frame: string, nowMs: number): void {
    if (!this.#numbered) return this.#connection.send(frame, nowMs)
    this.#after = this.#nextOrder()
    this.#connection.send(withFields(frame, `"order":${this.#after}`), nowMs)
  }

  /** Sends a frame over the channel, where it may be lost, and over the WebSocket, where it must arrive. */
  #sendTwice(frame: string, nowMs: number): void {
    this.#connection.channel?.send(frame)
    this.#connection.send(frame, nowMs)
  }

  #number(frame: string | ArrayBuffer): string | ArrayBuffer {
    if (typeof frame === 'string') return this.#numberText(frame)
    const order: FrameOrder = { order: this.#nextOrder(), after: this.#after }
    return encodeOrderedFrame(order, new Uint8Array(frame)).buffer
  }

  #numberText(frame: string): string {
    return withFields(frame, `"order":${this.#nextOrder()},"after":${this.#after}`)
  }

  #numberAlone(frame: string): string {
    return this.#numbered ? withFields(frame, `"order":${this.#nextOrder()}`) : frame
  }

  #nextOrder(): number {
    if (this.#order === MAX_ORDER) this.#connection.close('draining')
    else this.#order++
    return this.#order
  }
}

/** Adds fields to the JSON text of an object that is not empty. */
const withFields = (frame: string, fields: string): string => `{${fields},${frame.slice(1)}`
