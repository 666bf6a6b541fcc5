import {
  BINARY_CONTROL,
  DriveGoal,
  encodeBinaryFrame,
  limitSpeed,
  MAX_BINARY_SEQ,
  MAX_TTL_MS,
  type SeenPictures,
  type ToDriverFrame,
} from '@wheelhouse/protocol'
import { type Congestion, CongestionMonitor } from './congestion.ts'
import { checkBinarySize, frameText } from './frames.ts'
import { linkClockMs } from './link-clock.ts'
import { DEFAULT_MIN_RATE_HZ } from './send-rate.ts'
import { DEFAULT_MAX_BUFFERED_BYTES, SessionLink } from './session-link.ts'
import type { OperatorLinkOptions } from './session-link-options.ts'
import { VideoAge } from './video-age.ts'

/**
 * Spaces commands out. A command that comes too early waits for its turn, unless a newer one replaces it: there is never
 * more than one waiting, so no queue of old commands can build up.
 */
export class CommandPacer {
  /** The waiting command. */
  #waiting: (() => void) | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next command may be sent. */
  #dueMs = Number.NEGATIVE_INFINITY

  /**
   * Returns whether a command may be sent now, and then replaces the waiting one.
   * @param gapMs the shortest time between two commands; 0 for no limit
   */
  mayPass(gapMs: number, nowMs: number): boolean {
    if (gapMs > 0 && nowMs < this.#dueMs) return false
    this.passed(gapMs, nowMs)
    return true
  }

  /** Notes a command that is sent now, in any case. */
  passed(gapMs: number, nowMs: number): void {
    this.discard()
    // A command that is late does not delay the next ones, so that jitter does not lower the rate.
    this.#dueMs = Math.max(this.#dueMs, nowMs - gapMs / 2) + gapMs
  }

  /** Sends a command when its turn comes, instead of the waiting one. */
  wait(send: () => void, gapMs: number, nowMs: number): void {
    this.#waiting = send
    this.#timer ??= setTimeout(() => this.#release(gapMs), Math.max(this.#dueMs - nowMs, 0))
  }

  /** Drops the waiting command. */
  discard(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = null
  }

  #release(gapMs: number): void {
    const send = this.#waiting
    this.passed(gapMs, performance.now())
    send?.()
  }
}

/** More than ten seconds of control at 100 Hz. Older frames are forgotten. */
const MAX_OUTSTANDING = 1_024

/** Records when the control frames without an answer were sent. */
class RoundTrips {
  readonly #sentMs = new Map<number, number>()

  sent(seq: number, nowMs: number): void {
    this.#sentMs.set(seq, nowMs)
    if (this.#sentMs.size <= MAX_OUTSTANDING) return
    for (const oldest of this.#sentMs.keys()) {
      this.#sentMs.delete(oldest)
      break
    }
  }

  /** Handles the answer to a frame. @returns milliseconds since it was sent; null for an unknown or forgotten frame */
  complete(seq: number, nowMs: number): number | null {
    const sentMs = this.#sentMs.get(seq)
    this.#sentMs.delete(seq)
    return sentMs === undefined ? null : nowMs - sentMs
  }
}

export interface ControlOptions {
  /**
   * Greatest age of the command when the robot obeys it, including the way there: 1 to 65,535 ms. Default: the gateway's
   * deadman as the greatest delay in addition to the fastest frame's way.
   */
  readonly ttlMs?: number
  /** Sends the command at once, also while the link limits its rate. For the command that halts the robot. */
  readonly urgent?: boolean
}

/** Where the robot is to be: metres and radians, counter-clockwise from x, in the coordinate frame `frame`. */
export interface GoalTarget {
  readonly frame: string
  readonly x: number
  readonly y: number
  readonly heading: number
}

export interface GoalOptions {
  /** As for commands. */
  readonly ttlMs?: number
  readonly goalId?: string
}

/** This share of `maxBufferedBytes` unsent is congestion. */
const CONGESTED_SHARE = 1 / 8

/**
 * Drives the robot of a session. Send control frames continuously while the robot should move: silence stops it. The
 * link never queues control frames: it drops a frame that it cannot send at once. While the connection is congested, it
 * limits its rate (see `congestion`): a command may then wait for its turn until a newer one replaces it. Stops are never
 * delayed.
 */
export class OperatorLink extends SessionLink {
  readonly #options: OperatorLinkOptions
  readonly #roundTrips = new RoundTrips()
  readonly #pacer = new CommandPacer()
  readonly #monitor: CongestionMonitor
  readonly #maxBufferedBytes: number
  readonly #videoAge: VideoAge
  #seq = 0

  /** @throws RangeError if `minRateHz` is not above 0 */
  constructor(options: OperatorLinkOptions) {
    const { minRateHz = DEFAULT_MIN_RATE_HZ, maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES } = options
    super(options)
    this.#options = options
    this.#maxBufferedBytes = maxBufferedBytes
    this.#videoAge = new VideoAge(options.videoAgeMs)
    this.#monitor = new CongestionMonitor({
      minRateHz,
      maxUnsentBytes: maxBufferedBytes * CONGESTED_SHARE,
      onChange: (congestion) => this.lifecycle.runCallback(() => options.onCongestion?.(congestion)),
    })
  }

  /** The load of the connection, and the rate to which the link limits its commands because of it. */
  get congestion(): Congestion {
    return this.#monitor.congestion
  }

  /**
   * Sends control data of any JSON value. Slows its speeds (`linear_mps`, `angular_radps`, `linear`, `angular`) down to
   * the allowed speed; see `limits`.
   * @returns the frame's number, for `onAck` and `onDropped`; null if the link did not send it: it is offline, has too
   * many unsent bytes or a pending stop, or the frame is too large (reported to `onError`). A command that waits because
   * of `congestion` has a number as well, which passes to the newer command that replaces it
   * @throws RangeError for a `ttlMs` out of range
   */
  control(data: unknown, { ttlMs, urgent = false }: ControlOptions = {}): number | null {
    checkTtl(ttlMs)
    const ttl = ttlMs === undefined ? {} : { ttl_ms: ttlMs }
    const command = limitSpeed({ data }, this.limits.speed_scale)
    const encode = (seq: number) =>
      frameText({ type: 'control', seq, t: linkClockMs(), ...ttl, ...this.#pictureFields(), ...command })
    return this.#drive(encode, urgent)
  }

  /**
   * Sends opaque bytes as control data. The robot receives them in `onBinaryControl`, and clamps them to the allowed
   * speed; slow them down yourself by `limits.speed_scale` to see what the robot does.
   */
  controlBinary(payload: Uint8Array, { ttlMs, urgent = false }: ControlOptions = {}): number | null {
    checkTtl(ttlMs)
    if (!this.stopPending) this.#reportVideoAge()
    return this.#drive((seq) => {
      if (seq > MAX_BINARY_SEQ) throw new RangeError('the sequence numbers are used up: create a new link')
      const header = { kind: BINARY_CONTROL, flags: 0, ttlMs: ttlMs ?? 0, seq, t: linkClockMs() }
      return checkBinarySize(encodeBinaryFrame(header, payload))
    }, urgent)
  }

  /**
   * Sends the robot to a place: metres and radians, counter-clockwise from x, in the coordinate frame that `autonomy` names. The robot
   * drives there by itself, and `onAutonomy` tells how it goes. The next command cancels the goal, and so do `cancelGoal`, every
   * stop, and the end of this connection.
   * @param options `ttlMs` as for `control`; `goalId` names the goal, up to 64 characters, by default a UUID
   * @returns the number of the frame, for `onDropped`, and the id; null if the link did not send it: it is offline, has too many unsent
   * bytes or a pending stop
   * @throws ZodError for an invalid goal, such as a coordinate that is not finite
   */
  goal(
    { frame, x, y, heading }: GoalTarget,
    { ttlMs, goalId = crypto.randomUUID() }: GoalOptions = {},
  ): { seq: number; goalId: string } | null {
    const seq = this.#seq + 1
    const goal = DriveGoal.parse({
      type: 'goal',
      seq,
      t: linkClockMs(),
      ttl_ms: ttlMs,
      goal_id: goalId,
      frame,
      x,
      y,
      heading,
    })
    if (this.stopPending) return null
    this.#pacer.discard() // a command from before would cancel the goal
    if (!this.lifecycle.transmit('droppable', () => frameText(goal))) return null
    this.#seq = seq
    return { seq, goalId }
  }

  /** Cancels the goal of the robot, which then halts. Returns false if the link is offline. */
  cancelGoal(): boolean {
    return this.lifecycle.transmit('vital', () => frameText({ type: 'cancel_goal' }))
  }

  /** Requests a remote stop as every link does, and drops the command that waits for its turn. */
  override stop(reason?: string): Promise<void> {
    this.#pacer.discard()
    return super.stop(reason)
  }

  /** @internal */
  protected override handle(frame: ToDriverFrame): void {
    if (frame.type === 'ack') {
      const nowMs = performance.now()
      const roundTripMs = this.#roundTrips.complete(frame.seq, nowMs)
      if (roundTripMs !== null) this.#monitor.acknowledged(roundTripMs, nowMs)
      this.lifecycle.runCallback(() => this.#options.onAck?.(frame.seq, roundTripMs))
    } else if (frame.type === 'dropped') {
      this.#roundTrips.complete(frame.seq, performance.now())
      this.lifecycle.runCallback(() => this.#options.onDropped?.(frame.seq, frame.why))
    } else super.handle(frame)
    if (frame.type === 'pong') this.#onPong()
  }

  /** @internal */
  protected override disconnected(): void {
    this.#pacer.discard()
    this.#monitor.reset()
    this.#videoAge.reset()
  }

  /** Returns what a command says of the pictures by which the operator drives. */
  #pictureFields(): { video_age_ms?: number | null; seen?: SeenPictures } {
    const age = this.#videoAge.fields()
    const { seenPictures } = this.#options
    if (!seenPictures || !this.latency) return age
    const { clockOffsetMs } = this.latency
    const seen = Object.entries(seenPictures()).map(([camera, ms]) => [
      camera,
      Math.round(ms + clockOffsetMs),
    ])
    return seen.length === 0 ? age : { ...age, seen: Object.fromEntries(seen) }
  }

  #reportVideoAge(): void {
    this.lifecycle.runCallback(() => {
      const frame = this.#videoAge.reportFrame(performance.now())
      if (frame !== null) this.lifecycle.transmit('droppable', () => frame)
    })
  }

  #onPong(): void {
    const nowMs = performance.now()
    if (this.latency && this.transport === 'websocket') this.#monitor.pong(this.latency.roundTripMs, nowMs)
    this.#monitor.update(this.load, nowMs)
  }

  #drive(encode: Encode, urgent: boolean): number | null {
    // After this operator has requested a stop, the link sends no control, even before the stop has arrived.
    if (this.stopPending || !this.lifecycle.isOnline) return null
    const nowMs = performance.now()
    const { load } = this
    this.#monitor.command(nowMs)
    this.#monitor.update(load, nowMs)
    if (load.unsentBytes > this.#maxBufferedBytes) return null
    const { gapMs } = this.#monitor
    if (urgent) this.#pacer.passed(gapMs, nowMs)
    else if (!this.#pacer.mayPass(gapMs, nowMs)) return this.#wait(encode, gapMs, nowMs)
    return this.#send(encode)
  }

  /** Encodes the command now: its time is that of the command, and the caller may change the data afterwards. */
  #wait(encode: Encode, gapMs: number, nowMs: number): number | null {
    const seq = this.#seq + 1
    let frame: ReturnType<Encode>
    try {
      frame = encode(seq)
    } catch (cause) {
      this.lifecycle.report(cause)
      return null
    }
    this.#pacer.wait(() => this.#send(() => frame), gapMs, nowMs)
    return seq
  }

  #send(encode: Encode): number | null {
    const seq = this.#seq + 1
    if (!this.transmitControl(() => encode(seq))) return null
    this.#seq = seq
    this.#roundTrips.sent(seq, performance.now())
    return seq
  }
}

/** Returns the frame with a number. */
type Encode = (seq: number) => string | Uint8Array<ArrayBuffer>

function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= MAX_TTL_MS)) return
  throw new RangeError(`ttlMs must be a whole number from 1 to ${MAX_TTL_MS}`)
}
