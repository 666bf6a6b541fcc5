import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  type Control,
  type ControlRules,
  ControlSchema,
  compileControlSchema,
  decodeBinaryHeader,
  decodeOrderedFrame,
  FIRST_EPOCH,
  FULL_SPEED,
  type Goal,
  type LeaseFrame,
  limitSpeed,
  type MotionLimiter,
  type RobotSession,
  type SpeedLimits,
  type ToRobotFrame,
  type Welcome,
} from '@wheelhouse/protocol'
import { DeclaredRules } from './declared-rules.ts'
import { FrameAge } from './frame-age.ts'
import { FrameSequence } from './frame-sequence.ts'
import type { GoalCancelReason, RobotLinkOptions, StopInForce } from './robot-link-options.ts'
import { safeCallback } from './safe-callback.ts'
import { Watchdog } from './watchdog.ts'

type CommandReceiverOptions = Pick<
  RobotLinkOptions,
  | 'onSession'
  | 'onLimits'
  | 'onLease'
  | 'controlSchema'
  | 'measured'
  | 'onControl'
  | 'onInvalidControl'
  | 'onBinaryControl'
  | 'onGoal'
  | 'onGoalCanceled'
  | 'onLateControl'
  | 'onStop'
  | 'onStopCleared'
  | 'onError'
  | 'watchdogMarginMs'
  | 'lateAllowanceMs'
>

const DEFAULT_WATCHDOG_MARGIN_MS = 250

/**
 * Tracks a robot's session and the stop in force, and passes the control frames that the robot may obey. Stops the
 * robot when control frames stop arriving or the link is lost.
 */
export class CommandReceiver {
  readonly #options: CommandReceiverOptions
  readonly #age = new FrameAge()
  readonly #sequence = new FrameSequence()
  readonly #watchdog = new Watchdog(() => this.#stopNow({ reason: 'watchdog', latched: false }))
  readonly #rules: DeclaredRules<ControlSchema, ControlRules>
  /** Of `#limiterRules`. */
  #motionLimiter: MotionLimiter | null = null
  #limiterRules: ControlRules | null = null
  #deadmanMs = 0
  #lastSeq = -1
  /**
   * The newest number of a command or goal since the last stop or end of a goal: until then, all are of one operator's connection. -1
   * after it.
   */
  #obeyedSeq = -1
  /** The goal that the robot drives to. */
  #goalId: string | null = null
  #session: RobotSession | null = null
  #stop: StopInForce | null = null
  #limits: SpeedLimits = FULL_SPEED
  /** The newest epoch of the session's control lease: frames of earlier holders do not move the robot. */
  #epoch = FIRST_EPOCH

  constructor(options: CommandReceiverOptions) {
    this.#options = options
    this.#rules = new DeclaredRules(
      options.controlSchema,
      (schema) => compileControlSchema(ControlSchema.parse(schema)),
      options.onError,
    )
  }

  /** The open session as last received; null without one. */
  get session(): RobotSession | null {
    return this.#session
  }

  /** The stop in force, requested by the gateway or by this robot itself; null without one. */
  get stop(): StopInForce | null {
    return this.#stop
  }

  /** The speed that is allowed at present. */
  get limits(): SpeedLimits {
    return this.#limits
  }

  /** Applies the session, the limits and the stop of a new connection. */
  welcome({ session, stop, deadman_ms, limits }: Welcome): void {
    const wasLatched = this.#stop?.latched === true
    this.#deadmanMs = deadman_ms
    this.#watchdog.limit(deadman_ms + (this.#options.watchdogMarginMs ?? DEFAULT_WATCHDOG_MARGIN_MS))
    this.#cancelGoal('link_lost')
    this.#obeyedSeq = -1
    this.#age.forget()
    this.#sequence.reset()
    this.#changeSession(session)
    this.#changeLimits(limits ?? FULL_SPEED)
    if (stop) this.#stopNow(stop)
    // A participant cleared it while this robot was offline.
    else if (wasLatched) this.#clearStop()
    else this.#stop = null
  }

  /** Handles a frame after the welcome. */
  frame(frame: ToRobotFrame): void {
    if (frame.type === 'session') {
      this.#sequence.session(frame.order)
      this.#changeSession(frame)
    } else if (frame.type === 'lease') this.#changeLease(frame)
    else if (frame.type === 'limits') {
      if (this.#sequence.acceptLimits(frame.order, frame.after)) this.#changeLimits(frame)
    } else if (frame.type === 'control') {
      if (this.#sequence.accept(frame.order, frame.after)) this.#control(frame)
    } else if (frame.type === 'goal') {
      if (this.#sequence.accept(frame.order)) this.#goal(frame)
    } else if (frame.type === 'cancel_goal') {
      if (this.#sequence.accept(frame.order) && frame.goal_id === this.#goalId) {
        this.#obeyedSeq = -1 // no stop follows, and the operator may connect again
        this.#cancelGoal('canceled')
      }
    } else if (frame.type === 'stop') {
      const { order, latched } = frame
      if (latched ? this.#sequence.acceptLatch(order) : this.#sequence.accept(order)) this.#stopNow(frame)
    } else if (frame.type === 'stop_cleared' && this.#sequence.acceptLatch(frame.order)) this.#clearStop()
  }

  /** Notes that the robot has reported the end of its goal. */
  goalEnded(goalId: string): void {
    if (goalId !== this.#goalId) return
    this.#goalId = null
    this.#obeyedSeq = -1 // the operator may connect again without a stop in between
  }

  #goal({ session_id, seq, epoch = FIRST_EPOCH, t, ttl_ms, goal_id, frame, x, y, heading }: Goal): void {
    const isOurs = session_id === this.#session?.session_id && this.#session.status === 'ACTIVE'
    if (!isOurs || epoch < this.#epoch) return
    this.#beginEpoch(epoch)
    if (seq <= this.#obeyedSeq || !this.#isFresh(seq, t, ttl_ms)) return
    this.#cancelGoal('replaced')
    this.#obeyedSeq = seq
    this.#stop = null
    this.#watchdog.disarm() // no more commands are needed
    this.#goalId = goal_id
    this.#runCallback(() => this.#options.onGoal?.({ goalId: goal_id, frame, x, y, heading, seq }))
  }

  #cancelGoal(reason: GoalCancelReason): void {
    const goalId = this.#goalId
    if (goalId === null) return
    this.#goalId = null
    this.#runCallback(() => this.#options.onGoalCanceled?.(goalId, reason))
  }

  /** Whether a command or a goal may move the robot. */
  get #isMoving(): boolean {
    return this.#watchdog.moving || this.#goalId !== null
  }

  #control(frame: Control): void {
    const epoch = frame.epoch ?? FIRST_EPOCH
    if (epoch < this.#epoch) return
    this.#beginEpoch(epoch)
    const rules = this.#rules.current
    const problem = rules?.problemOf(frame.data)
    if (problem !== undefined) return this.#refuse(frame.seq, problem)
    const hadHalted = !this.#watchdog.moving
    if (!this.#mayPass(frame.seq, frame.t, frame.ttl_ms)) return
    // Without rules here, the platform may know the schema of the robot.
    const slowed = limitSpeed(frame, this.#limits.speed_scale, rules ?? undefined)
    const limited = this.#limitMotion(slowed, hadHalted)
    this.#runCallback(() => this.#options.onControl?.(limited))
  }

  /** Returns the command with no value ahead of its rate. A robot that had halted may have been moved since the last command. */
  #limitMotion(control: Control, hadHalted: boolean): Control {
    const rules = this.#rules.current
    if (rules !== this.#limiterRules) this.#motionLimiter = rules?.createMotionLimiter() ?? null
    this.#limiterRules = rules
    const limiter = this.#motionLimiter
    if (!limiter) return control
    this.#runCallback(() => {
      const measured = hadHalted ? this.#options.measured?.() : undefined
      if (measured !== undefined) limiter.reset(measured)
    })
    const data = limiter.limit(control.data, performance.now(), this.#limits.speed_scale)
    return data === control.data ? control : { ...control, data }
  }

  /** Stops a moving robot: a command that it cannot obey must not extend the last motion. */
  #refuse(seq: number, problem: string): void {
    this.#runCallback(() => this.#options.onInvalidControl?.(seq, problem))
    if (this.#isMoving) this.#stopNow({ reason: 'invalid_command', latched: false })
  }

  /** Handles a binary frame after the welcome. @throws Error for a malformed frame */
  binary(frame: Uint8Array): void {
    const ordered = decodeOrderedFrame(frame)
    if (ordered === undefined) this.#binaryControl(frame)
    else if (this.#sequence.accept(ordered.order, ordered.after)) this.#binaryControl(ordered.frame)
  }

  #binaryControl(frame: Uint8Array): void {
    const header = decodeBinaryHeader(frame)
    if (header === undefined || !Number.isFinite(header.t)) throw new Error('malformed binary frame')
    // Newer gateways may send kinds that this robot does not know.
    if (header.kind !== BINARY_CONTROL || !this.#mayPass(header.seq, header.t, header.ttlMs)) return
    const payload = frame.subarray(BINARY_HEADER_BYTES)
    this.#runCallback(() => this.#options.onBinaryControl?.(payload, header))
  }

  /** Stops a moving robot: without a connection, no participant could stop it. */
  linkLost(): void {
    const isMoving = this.#isMoving
    this.#cancelGoal('link_lost')
    if (isMoving) this.#stopNow({ reason: 'link_lost', latched: false })
  }

  /** Returns whether the robot may obey a control frame. If so, cancels its goal and restarts the watchdog. */
  #mayPass(seq: number, t: number, ttlMs: number): boolean {
    if (!this.#isFresh(seq, t, ttlMs)) return false
    this.#obeyedSeq = seq
    this.#stop = null
    this.#watchdog.feed()
    if (this.#goalId !== null) this.#cancelGoal('control')
    return true
  }

  /** Returns whether a control frame or a goal is not late, and no stop is latched. */
  #isFresh(seq: number, t: number, ttlMs: number): boolean {
    // `seq` only rises on one operator's connection. This frame is from another operator, with another clock.
    if (seq <= this.#lastSeq) this.#age.forget()
    this.#lastSeq = seq
    const allowanceMs = this.#options.lateAllowanceMs ?? 0
    const lateMs = this.#age.lateMs(t, (ttlMs || this.#deadmanMs) + allowanceMs, performance.now())
    // The gateway relays no control frame under a latched stop. The robot enforces the same rule.
    if (this.#stop?.latched) return false
    if (lateMs === null) return true
    this.#runCallback(() => this.#options.onLateControl?.(seq, lateMs))
    return false
  }

  #changeSession(session: RobotSession | null): void {
    const open = session?.status === 'ACTIVE' || session?.status === 'PAUSED'
    const isOther = session?.session_id !== this.#session?.session_id
    // Another session may have another operator, with another clock.
    if (open && isOther) this.#age.forget()
    // The gateway sends the limits of the new session after it.
    if (isOther) {
      this.#changeLimits(FULL_SPEED)
      this.#epoch = FIRST_EPOCH
      this.#obeyedSeq = -1
    }
    if (session?.status !== 'ACTIVE' || isOther) this.#cancelGoal('session_paused')
    this.#session = open ? session : null
    if (open) this.#rules.follow(session.control_schema)
    this.#runCallback(() => this.#options.onSession?.(session))
  }

  #changeLease({ epoch, holder }: LeaseFrame): void {
    if (epoch < this.#epoch) return
    this.#beginEpoch(epoch)
    this.#runCallback(() => this.#options.onLease?.({ epoch, holder }))
  }

  /**
   * Halts a moving robot: every change of the holder goes through a halt, also if the stop before it was lost. The first command of the
   * new holder may overtake the lease.
   */
  #beginEpoch(epoch: number): void {
    if (epoch <= this.#epoch) return
    this.#epoch = epoch
    this.#age.forget() // the new holder has another clock
    const isMoving = this.#isMoving
    this.#cancelGoal('control_transferred')
    this.#obeyedSeq = -1
    if (isMoving) this.#stopNow({ reason: 'control_transferred', latched: false })
  }

  #changeLimits({ speed_scale, reason }: SpeedLimits): void {
    if (speed_scale === this.#limits.speed_scale && reason === this.#limits.reason) return
    const limits = { speed_scale, reason }
    this.#limits = limits
    this.#runCallback(() => this.#options.onLimits?.(limits))
  }

  #stopNow({ reason, latched }: StopInForce): void {
    this.#watchdog.disarm()
    this.#obeyedSeq = -1
    // A deadman stop does not release a latched stop.
    const stop = { reason, latched: latched || this.#stop?.latched === true }
    this.#stop = stop
    this.#runCallback(() => this.#options.onStop?.(stop))
    this.#cancelGoal('stopped')
  }

  #clearStop(): void {
    this.#stop = null
    this.#runCallback(() => this.#options.onStopCleared?.())
  }

  #runCallback(run: () => unknown): void {
    safeCallback(this.#options.onError, run)
  }
}
