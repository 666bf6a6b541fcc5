import type { Socket } from 'node:net'
import { connectRaw } from './raw-socket.ts'
import { ackSeq, ackTimeMs, type FrameKind, kindOf, upgradeRequest, walkFrames } from './wire.ts'

export interface RobotIdentity {
  readonly id: string
  readonly token: string
}

export interface Destination {
  readonly port: number
  /** Whether the server sends a welcome after the upgrade, as Wheelhouse does. */
  readonly readyOn: 'upgrade' | 'welcome'
  /** Whether the server disconnects silent robots. */
  readonly expectsBeats?: boolean
  /** Source address, when one does not have enough ports. */
  readonly localAddress?: string
}

/** Callbacks shared by all robots. */
export interface RobotCallbacks {
  /** `beats` is the number of heartbeats that the frame acknowledges: a gateway may answer several at once. */
  acked(robot: RobotSocket, beats: number): void
  ponged(robot: RobotSocket): void
}

const HEADERS_END = '\r\n\r\n'

/** One robot of the load generator: a raw TCP socket that implements a minimum of WebSocket. */
export class RobotSocket {
  readonly id: string
  open = false
  /** When the newest beat was sent, in `performance.now()` time. */
  sentAtMs = 0
  /** The newest time that the gateway acknowledged, in Unix milliseconds. */
  lastAckedMs = 0
  /** Beats or pings without an answer yet. */
  outstanding = 0
  /** Every acknowledged time, for the observed robots. */
  ackedTimesMs: number[] | undefined
  private readonly socket: Socket
  private readonly callbacks: RobotCallbacks
  private upgraded = false
  private rest: Buffer | undefined
  private settle: ((refusal?: string) => void) | undefined
  private readonly readyOn: FrameKind | 'upgrade'

  private constructor(identity: RobotIdentity, to: Destination, callbacks: RobotCallbacks) {
    this.id = identity.id
    this.callbacks = callbacks
    this.readyOn = to.readyOn
    this.socket = connectRaw(to, (data) => this.read(data))
    this.socket.on('connect', () =>
      this.socket.write(upgradeRequest(`/robots/${identity.id}/control`, identity.token)),
    )
    this.socket.on('error', (cause) => this.settle?.(cause.message))
    this.socket.on('close', () => {
      this.open = false
      this.settle?.('closed before it was admitted')
    })
  }

  /** Connects and waits until the robot is admitted. */
  static connect(identity: RobotIdentity, to: Destination, callbacks: RobotCallbacks): Promise<RobotSocket> {
    return new Promise((resolve, reject) => {
      const robot = new RobotSocket(identity, to, callbacks)
      robot.settle = (refusal) => {
        robot.settle = undefined
        if (refusal !== undefined) return reject(new Error(`robot ${identity.id}: ${refusal}`))
        robot.open = true
        resolve(robot)
      }
    })
  }

  send(bytes: Buffer): void {
    if (this.open) this.socket.write(bytes)
  }

  /** Destroys the connection, as a crashed robot does. */
  destroy(): void {
    this.open = false
    this.socket.destroy()
  }

  private read(chunk: Buffer): void {
    const data = this.rest ? Buffer.concat([this.rest, chunk]) : chunk
    this.rest = undefined
    const from = this.upgraded ? 0 : this.readUpgrade(data)
    const done = walkFrames(data, from, this.see)
    // Copied, because all robots share the buffer.
    if (done < data.length) this.rest = Buffer.from(data.subarray(done))
  }

  private readUpgrade(data: Buffer): number {
    const end = data.indexOf(HEADERS_END)
    if (end < 0) return data.length === 0 ? 0 : this.refuse('an incomplete answer', data)
    const status = data.toString('latin1', 0, data.indexOf('\r\n'))
    if (!status.includes(' 101 ')) return this.refuse(status, data)
    this.upgraded = true
    if (this.readyOn === 'upgrade') this.settle?.()
    return end + HEADERS_END.length
  }

  private refuse(why: string, data: Buffer): number {
    this.settle?.(why)
    this.socket.destroy()
    return data.length
  }

  private readonly see = (opcode: number, data: Buffer, start: number, end: number): void => {
    const kind = kindOf(opcode, data, start)
    if (kind === 'ack') {
      const ackedMs = ackTimeMs(data, end)
      this.lastAckedMs = ackedMs
      const left = ackSeq(data, start)
      const beats = Math.max(1, this.outstanding - left)
      this.outstanding = left
      this.ackedTimesMs?.push(ackedMs)
      this.callbacks.acked(this, beats)
    } else if (kind === 'pong') {
      this.outstanding = 0
      this.callbacks.ponged(this)
    } else if (kind === this.readyOn) this.settle?.()
  }
}
