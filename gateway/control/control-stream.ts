import type { DropReason } from '@wheelhouse/protocol'
import { type DriveState, decide, decideGoal, type Gate, isFastest, type Stamp } from './gate.ts'
import { PictureAge } from './picture-age.ts'

/** A control frame that waits until its robot reads again. */
export interface BufferedControl {
  readonly frame: string | ArrayBuffer
  readonly seq: number
  /** When the frame was made, as far as its age shows, and until when it may pass; both in the relay's clock. */
  readonly createdAtMs: number
  readonly validUntilMs: number
}

/** How old commands and the operator's picture may be. */
type StreamLimits = Pick<Gate, 'latencyLimitMs' | 'videoLimitMs'>

/**
 * The control frames of one session: the state of their gate, with the numbers and the clock of the operator's connection, whether the
 * frames may have set the robot in motion, and the deadman timer. Times are in the relay's clock.
 */
export class ControlStream implements Gate {
  readonly picture = new PictureAge()
  #lastSeq = -1
  #lastPassMs = 0
  #offsetMs = Number.POSITIVE_INFINITY
  #offsetSeenMs = 0
  #tooLate = false
  #driven = false
  /** A goal was sent since the last halt. */
  #underGoal = false
  #goalId: string | null = null
  #buffered: BufferedControl | null = null
  #deadman: NodeJS.Timeout | undefined = undefined
  #latencyLimitMs: number
  #videoLimitMs: number | null
  readonly #pathMs: () => number
  readonly #onDiscarded: (control: BufferedControl, why: DropReason) => void

  constructor(options: {
    readonly limits: StreamLimits
    /** Returns the least time that a command takes, as last measured. */
    readonly pathMs: () => number
    /** Receives each buffered frame that will not be sent. It must not change the session. */
    readonly onDiscarded: (control: BufferedControl, why: DropReason) => void
  }) {
    this.#latencyLimitMs = options.limits.latencyLimitMs
    this.#videoLimitMs = options.limits.videoLimitMs
    this.#pathMs = options.pathMs
    this.#onDiscarded = options.onDiscarded
  }

  get lastSeq(): number {
    return this.#lastSeq
  }
  get lastPassMs(): number {
    return this.#lastPassMs
  }
  get offsetMs(): number {
    return this.#offsetMs
  }
  get offsetSeenMs(): number {
    return this.#offsetSeenMs
  }
  get tooLate(): boolean {
    return this.#tooLate
  }
  get pathMs(): number {
    return this.#pathMs()
  }
  get latencyLimitMs(): number {
    return this.#latencyLimitMs
  }
  get videoLimitMs(): number | null {
    return this.#videoLimitMs
  }
  /** Whether a command or a goal may have set the robot in motion since the last halt. */
  get moving(): boolean {
    return this.#driven || this.#underGoal
  }
  /** Whether a command may have set the robot in motion since the last halt: it then needs further ones. */
  get driven(): boolean {
    return this.#driven
  }
  /** The goal that the robot drives to, as far as it says; null without one. */
  get goalId(): string | null {
    return this.#goalId
  }
  get deadmanScheduled(): boolean {
    return this.#deadman !== undefined
  }

  /** Applies the limits of the session as the database describes it now. */
  setLimits({ latencyLimitMs, videoLimitMs }: StreamLimits): void {
    this.#latencyLimitMs = latencyLimitMs
    this.#videoLimitMs = videoLimitMs
  }

  /** Forgets the operator's connection: the next one has its own numbers and clock. */
  reset(): void {
    this.#discard('robot_slow')
    this.#lastSeq = -1
    this.#offsetMs = Number.POSITIVE_INFINITY
    this.#tooLate = false
    this.picture.reset()
  }

  /**
   * Decides one control frame of the operator, and notes what the next decision needs of it.
   * @param isAllowed checks its content, which costs more than all gates before it
   */
  receive(state: DriveState, stamp: Stamp, nowMs: number, isAllowed: () => boolean): 'pass' | DropReason {
    this.#observeClock(stamp, nowMs)
    if (stamp.videoAgeMs !== undefined) this.picture.report(stamp.videoAgeMs, nowMs)
    const gated = decide(state, this, stamp, nowMs)
    const verdict = gated === 'pass' && !isAllowed() ? 'invalid' : gated
    if (verdict === 'pass') this.#accept(stamp, nowMs)
    else if (verdict === 'latency') this.#tooLate = true
    else if (verdict === 'video_stale') this.picture.exceedLimit()
    return verdict
  }

  /**
   * Decides one goal of the operator. It shares the numbers of control frames.
   * @param isAccepted whether the robot accepts goals in its coordinate frame
   */
  receiveGoal(state: DriveState, stamp: Stamp, isAccepted: boolean, nowMs: number): 'pass' | DropReason {
    this.#observeClock(stamp, nowMs)
    const verdict = decideGoal(state, this, stamp, isAccepted, nowMs)
    if (verdict === 'pass') this.#lastSeq = stamp.seq
    return verdict
  }

  /** Notes that a goal was sent. It replaces the motion of earlier commands, and with it their deadman. */
  beginGoal(goalId: string): void {
    this.clearMotion('robot_slow')
    this.#goalId = goalId
    this.#underGoal = true
  }

  /** Notes that the robot does not drive to this goal any more. It counts as moving until a halt: what it reports is no proof. */
  endGoal(goalId: string): void {
    if (this.#goalId === goalId) this.#goalId = null
  }

  /** Adjusts the clock offset if the frame was the fastest one of its connection. */
  #observeClock({ t }: Stamp, nowMs: number): void {
    if (!isFastest(this, t, nowMs)) return
    this.#offsetMs = nowMs - t
    this.#offsetSeenMs = nowMs
  }

  #accept({ seq }: Stamp, nowMs: number): void {
    this.picture.accept()
    this.#lastSeq = seq
    this.#lastPassMs = nowMs
    this.#tooLate = false
  }

  /** Notes whether a frame that was sent may have set the robot in motion. */
  setDriven(driven: boolean): void {
    this.#driven = driven
  }

  /** Buffers a frame; returns the one that it replaces. */
  buffer(control: BufferedControl): BufferedControl | null {
    const replaced = this.#buffered
    this.#buffered = control
    return replaced
  }

  takeBuffered(): BufferedControl | null {
    const buffered = this.#buffered
    this.#buffered = null
    return buffered
  }

  #discard(why: DropReason): void {
    const buffered = this.takeBuffered()
    if (buffered) this.#onDiscarded(buffered, why)
  }

  startDeadman(timer: NodeJS.Timeout): void {
    this.#deadman = timer
  }

  /** Notes that the deadman timer has fired and is not scheduled again. */
  expireDeadman(): void {
    this.#deadman = undefined
    this.#discard('expired')
  }

  /** Ends all motion: no earlier frame can move the robot any more. `why` applies to the frame that is buffered. */
  clearMotion(why: DropReason): void {
    this.#driven = false
    this.#underGoal = false
    this.#goalId = null
    this.#discard(why)
    clearTimeout(this.#deadman)
    this.#deadman = undefined
  }
}
