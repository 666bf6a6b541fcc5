import { OrderedFrames } from '../channel/ordered-frames.ts'
import { type ReportedAutonomy, type RobotMember, SessionMember } from '../control/control-session.ts'
import { ageOf, isFastest } from '../control/gate.ts'

/** Frames buffered for a connection that waits for its admission; of more than that, the newest. */
const MAX_EARLY_FRAMES = 32
const WINDOW_MS = 1_000

/** One connection of a robot, with all of its state that does not belong to a session. */
export class RobotConnection extends SessionMember implements RobotMember {
  readonly robotId: string
  readonly tokenVersion: number
  /** Sends control, stops and changes of the session. */
  readonly ordered = new OrderedFrames(this)
  /** In which part of each second the heartbeat is written; -1 before the first one. Set by `createHeartbeats` only. */
  slice = -1
  /** Whether the newest heartbeat waits for the database. Set by `createHeartbeats` only. */
  heartbeatUnsaved = false
  readonly #sampleClock = new SampleClock()
  #epoch = 0
  #account: string
  #lastHeartbeatMs = 0
  #heartbeatWindowMs = 0
  #heartbeatsInWindow = 0
  #battery = -1
  #batteryMs = 0
  #autonomy: ReportedAutonomy | null = null
  /** Frames that arrived before the admission; undefined after it. */
  #earlyFrames: string[] | undefined = []

  constructor(robotId: string, tokenVersion: number, nowMs: number) {
    super(nowMs)
    this.robotId = robotId
    this.#account = robotId
    this.tokenVersion = tokenVersion
  }

  /** The fencing token of the connection; 0 until the database has admitted it. */
  get epoch(): number {
    return this.#epoch
  }

  /** The owner; before the admission, the robot itself. */
  get account(): string {
    return this.#account
  }

  admit({ epoch, ownerId }: { readonly epoch: number; readonly ownerId: string }): void {
    this.#epoch = epoch
    this.#account = ownerId
  }

  sampleAgeMs(t: unknown, nowMs: number): number {
    return this.#sampleClock.ageMs(t, nowMs)
  }

  /** When the robot last sent a heartbeat; 0 before the first one. */
  get lastHeartbeatMs(): number {
    return this.#lastHeartbeatMs
  }

  recordHeartbeat(nowMs: number): void {
    this.#lastHeartbeatMs = nowMs
  }

  /** Counts a heartbeat; returns how many there were in the present second. */
  countHeartbeat(nowMs: number): number {
    if (nowMs - this.#heartbeatWindowMs >= WINDOW_MS) {
      this.#heartbeatWindowMs = nowMs
      this.#heartbeatsInWindow = 0
    }
    return ++this.#heartbeatsInWindow
  }

  /** Charge as last reported, 0 to 1; -1 before the first report. */
  get battery(): number {
    return this.#battery
  }
  get batteryMs(): number {
    return this.#batteryMs
  }

  reportBattery(charge: number, nowMs: number): void {
    this.#battery = charge
    this.#batteryMs = nowMs
  }

  /** What this connection has reported of itself; null before. */
  get autonomy(): ReportedAutonomy | null {
    return this.#autonomy
  }

  reportAutonomy(autonomy: ReportedAutonomy): void {
    this.#autonomy = autonomy
  }

  /** Buffers a frame until the connection is welcomed. Returns false after that: the frame is to be read at once. */
  bufferEarlyFrame(text: string): boolean {
    if (this.#earlyFrames === undefined) return false
    if (this.#earlyFrames.length >= MAX_EARLY_FRAMES) this.#earlyFrames.shift()
    this.#earlyFrames.push(text)
    return true
  }

  /** Returns the buffered frames, and ends the buffering. */
  takeEarlyFrames(): string[] {
    const frames = this.#earlyFrames ?? []
    this.#earlyFrames = undefined
    return frames
  }
}

/** A sample that seems older is one of a clock that was set. */
const MAX_AGE_MS = 5_000

/** Compares the clock of a robot with the gateway's, by the times of its samples. Times are milliseconds of clocks that need not agree. */
export class SampleClock {
  #offsetMs = Number.POSITIVE_INFINITY
  #offsetSeenMs = 0
  #lastT = Number.NEGATIVE_INFINITY

  /**
   * Returns how much longer a sample took than the fastest one; NaN if its time is missing or says nothing: a time that does not rise
   * belongs to no clock, or to one that was set.
   */
  ageMs(t: unknown, nowMs: number): number {
    if (typeof t !== 'number' || !Number.isFinite(t)) return Number.NaN
    const isLater = t > this.#lastT
    this.#lastT = t
    const clock = { offsetMs: this.#offsetMs, offsetSeenMs: this.#offsetSeenMs }
    const ageMs = ageOf(clock, t, nowMs)
    const isUsable = isLater && ageMs <= MAX_AGE_MS
    if (isUsable && !isFastest(clock, t, nowMs)) return ageMs
    this.#offsetMs = nowMs - t
    this.#offsetSeenMs = nowMs
    return isUsable ? 0 : Number.NaN
  }
}
