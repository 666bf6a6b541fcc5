import { BINARY_CONTROL } from '@wheelhouse/protocol'
import { EndSocket, type RelayAddress } from './endpoint-socket.ts'
import type { LatencyRecorder } from './latency-recorder.ts'
import type { PauseWatch } from './pauses.ts'
import { ackFrame, controlFrame, type Form, kindOf, seqOf } from './payload.ts'
import type { End, Side } from './wires/wire.ts'

/** Maximum of frames of one pair in flight that can be distinguished. */
const REMEMBERED_FRAMES = 1_024
const NO_SENDER = -1

export interface StopReceived {
  readonly reason: string
  readonly latched: boolean
  readonly atMs: number
}

/** Shared by all pairs of a generator. */
export interface PairParts {
  readonly clock: PauseWatch
  readonly recorder: LatencyRecorder
  /** Called when a control frame of this pair was acknowledged or refused. */
  readonly onAnswered: (pair: Pair) => void
}

/** An operator, a robot that acknowledges every control frame, and optionally an observer: all ends in one process. */
export class Pair {
  readonly index: number
  /** Control frames that are neither acknowledged nor refused. */
  outstanding = 0
  /** When its operator wrote the last control frame. */
  writtenAtMs = 0
  /** The last session state that the operator received, from a relay with sessions. */
  state: { status?: unknown; robot_connected?: unknown; stop?: { latched?: unknown } | null } = {}
  /** Control frames that reached the robot under a latched stop. */
  framesUnderStop = 0
  onStop = (_stop: StopReceived) => {}
  private readonly parts: PairParts
  private readonly ends: Partial<Record<Side, EndSocket>> = {}
  private nextSeq = 1
  private readonly rememberedSeq = new Float64Array(REMEMBERED_FRAMES).fill(NO_SENDER)
  private readonly sentMs = new Float64Array(REMEMBERED_FRAMES)
  private acks: Buffer[] = []
  private latched = false

  constructor(index: number, parts: PairParts) {
    this.index = index
    this.parts = parts
  }

  async connect(end: End, address: RelayAddress): Promise<void> {
    const { clock, recorder } = this.parts
    this.ends[end.side] = await EndSocket.connect(end, address, clock, {
      message: (data, start, stop) => {
        if (end.side === 'robot') this.robotReads(data, start, stop)
        else if (end.side === 'operator') this.operatorReads(data, start, stop)
      },
      readDone: () => this.flushAcks(),
      closed: (why) => recorder.lostConnection(`${end.side}: ${why}`),
    })
  }

  /** Writes this many control frames in one piece; their time is that of the write. */
  control(form: Form, count = 1): void {
    const operator = this.ends.operator
    if (!operator?.open) return
    const nowMs = performance.now()
    const frames: Buffer[] = []
    for (let frame = 0; frame < count; frame++) {
      const seq = this.nextSeq++
      this.rememberedSeq[seq % REMEMBERED_FRAMES] = seq
      this.sentMs[seq % REMEMBERED_FRAMES] = nowMs
      frames.push(operator.wrap(controlFrame(form, seq, nowMs)))
    }
    operator.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames))
    this.writtenAtMs = nowMs
    this.outstanding += count
    this.parts.recorder.wrote(count)
    this.parts.clock.poll(performance.now())
  }

  /** Sends another message from one of the ends; returns false when that end is not connected. */
  sendTo(side: Side, message: object): boolean {
    const end = this.ends[side]
    if (!end?.open) return false
    end.send(Buffer.from(JSON.stringify(message)))
    return true
  }

  has(side: Side): boolean {
    return this.ends[side]?.open === true
  }

  destroy(): void {
    for (const end of Object.values(this.ends)) end.destroy()
  }

  private robotReads(data: Buffer, start: number, end: number): void {
    if (kindOf(data, start) !== 'control') return this.onRobotData(data, start, end)
    const seq = seqOf(data, start, end)
    const slot = seq % REMEMBERED_FRAMES
    if (this.rememberedSeq[slot] === seq) this.parts.recorder.arrived(this.sentMs[slot] as number)
    else this.parts.recorder.arrivedStrangely()
    this.rememberedSeq[slot] = NO_SENDER
    if (this.latched) this.framesUnderStop++
    this.acks.push((this.ends.robot as EndSocket).wrap(ackFrame(seq)))
  }

  private flushAcks(): void {
    if (this.acks.length === 0) return
    this.ends.robot?.write(this.acks.length === 1 ? (this.acks[0] as Buffer) : Buffer.concat(this.acks))
    this.acks = []
  }

  /** Handles frames that the relay itself sends to a robot; only Wheelhouse does. */
  private onRobotData(data: Buffer, start: number, end: number): void {
    const frame = JSON.parse(data.toString('utf8', start, end))
    if (frame.type === 'stop_cleared') this.latched = false
    if (frame.type !== 'stop') return
    this.latched ||= frame.latched
    this.onStop({ reason: frame.reason, latched: frame.latched, atMs: this.parts.clock.nowMs })
    this.sendTo('robot', { type: 'stopped', reason: frame.reason })
  }

  private operatorReads(data: Buffer, start: number, end: number): void {
    if (kindOf(data, start) === 'ack') {
      this.parts.recorder.acked++
      this.answered()
      return
    }
    if (data[start] === BINARY_CONTROL) return // the relay returned an operator's frame to the operator
    const frame = JSON.parse(data.toString('utf8', start, end))
    if (frame.type === 'state') this.state = frame
    if (frame.type !== 'dropped') return
    this.parts.recorder.refused(String(frame.why))
    this.answered()
  }

  private answered(): void {
    this.outstanding = Math.max(0, this.outstanding - 1)
    this.parts.onAnswered(this)
  }
}
