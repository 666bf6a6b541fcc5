import { MIN_SPEED_SCALE, type SpeedLimits } from '@wheelhouse/protocol'
import type { SpeedIncrement } from '../../src/modules/sessions/index.ts'
import type { GatewayConnection } from '../base/connection.ts'
import type { OrderedFrames } from '../channel/ordered-frames.ts'
import type { SessionTap } from '../recording/session-taps.ts'
import { limitsFrame } from './session-frames.ts'

/** Scales are multiples of 1/20, rounded down, so that a small change of the latency changes nothing. */
const STEPS = 20
/** The scale follows the highest latency of the present and the previous window, so it rises after one to two windows. */
const WINDOW_MS = 1_000
/** A longer gap between two accounts is not driving time: the process was suspended. */
const MAX_ACCOUNT_MS = 5_000

/**
 * Returns the share of the speed at which a robot drives as far within `latencyMs` as it does at full speed within
 * `budgetMs`: a multiple of 0.05, at least the lowest scale.
 */
export function speedScaleFor(budgetMs: number, latencyMs: number): number {
  if (latencyMs <= budgetMs) return 1
  return Math.max(MIN_SPEED_SCALE, Math.floor((budgetMs * STEPS) / latencyMs) / STEPS)
}

const emptyIncrement = () => ({ budgetedMs: 0, scaledMs: 0, limitedMs: 0, pictureLimitedMs: 0, minScale: 1 })

/** How old what the operator reacts to is when the robot obeys, in milliseconds. */
interface Delay {
  /** The time that commands take. */
  readonly commandMs: number
  /** The age of the picture; 0 while it is unknown. */
  readonly pictureMs: number
}

const NO_DELAY: Delay = { commandMs: 0, pictureMs: 0 }
const totalOf = ({ commandMs, pictureMs }: Delay) => commandMs + pictureMs

/**
 * Limits the speed of one session by its measured latency and the age of the operator's picture. The scale falls at once, and rises when the latency has been
 * lower for one to two seconds. While the latency is unknown, the lowest scale applies. Times are in the relay's clock.
 */
export class SpeedEnvelope {
  #budgetMs: number | null
  #scale: number
  #unknown: boolean
  #windowSinceMs = 0
  #highest = NO_DELAY
  #previousHighest = NO_DELAY
  #accountedMs = 0
  #wasDriving = false
  /** The limits that robot and participants received last. */
  #announced: SpeedLimits = { speed_scale: 1, reason: null }
  /** The limits may differ from those. Every control frame asks, so the answer must be quick. */
  #mayHaveChanged: boolean
  #increment = emptyIncrement()

  /** @param budgetMs the latency up to which the robot may drive at full speed; null for no limit */
  constructor(budgetMs: number | null) {
    this.#budgetMs = budgetMs
    this.#unknown = budgetMs !== null
    this.#mayHaveChanged = budgetMs !== null
    this.#scale = budgetMs === null ? 1 : MIN_SPEED_SCALE
  }

  get enabled(): boolean {
    return this.#budgetMs !== null
  }

  /** The allowed share of the robot's speed. */
  get scale(): number {
    return this.#scale
  }

  /** Whether the latency must be measured before the robot may drive faster than the lowest scale. */
  get unknown(): boolean {
    return this.#unknown
  }

  get limits(): SpeedLimits {
    if (this.#scale === 1) return { speed_scale: 1, reason: null }
    const cause = this.#isPictureCause ? 'picture_age' : 'latency'
    return { speed_scale: this.#scale, reason: this.#unknown ? 'latency_unknown' : cause }
  }

  /** Whether the age of the picture is more of the delay than the time of the commands. */
  get #isPictureCause(): boolean {
    const { commandMs, pictureMs } = this.#delay
    return !this.#unknown && pictureMs > commandMs
  }

  /** The delay that the scale follows. */
  get #delay(): Delay {
    return totalOf(this.#highest) >= totalOf(this.#previousHighest) ? this.#highest : this.#previousHighest
  }

  /** Returns the limits if they have changed since the last call, so that they must be sent. */
  takeChange(): SpeedLimits | null {
    if (!this.#mayHaveChanged) return null
    this.#mayHaveChanged = false
    const { limits } = this
    if (limits.speed_scale === this.#announced.speed_scale && limits.reason === this.#announced.reason)
      return null
    this.#announced = limits
    return limits
  }

  /** Changes the budget. The scale of a new budget follows the next measurement. */
  setBudget(budgetMs: number | null): void {
    if (budgetMs === this.#budgetMs) return
    this.#budgetMs = budgetMs
    this.#scale = 1
    this.#unknown = false
    this.#mayHaveChanged = true
    this.forget()
  }

  /** Forgets the measurements, because they are of another connection. */
  forget(): void {
    if (!this.enabled) return
    this.#unknown = true
    this.#mayHaveChanged = true
    this.#scale = MIN_SPEED_SCALE
    this.#highest = this.#previousHighest = NO_DELAY
  }

  /** Notes the present delay; undefined while the time of the commands is unknown. */
  observe(delay: Delay | undefined, nowMs: number): void {
    if (this.#budgetMs === null || delay === undefined) return this.forget()
    this.#noteHighest(delay, nowMs)
    this.#mayHaveChanged = true
    this.#scale = speedScaleFor(this.#budgetMs, totalOf(this.#delay))
    this.#unknown = false
    if (this.#wasDriving) this.#increment.minScale = Math.min(this.#increment.minScale, this.#scale)
  }

  /** Notes the delay of a command that passes. A known delay that is not above the last ones changes nothing. */
  observeCommand(delay: Delay, nowMs: number): void {
    this.account(true, nowMs)
    if (this.#unknown) return
    if (totalOf(delay) <= totalOf(this.#highest) && nowMs - this.#windowSinceMs < WINDOW_MS) return
    this.observe(delay, nowMs)
  }

  #noteHighest(delay: Delay, nowMs: number): void {
    const sinceMs = nowMs - this.#windowSinceMs
    if (sinceMs >= WINDOW_MS) {
      this.#previousHighest = sinceMs < 2 * WINDOW_MS ? this.#highest : NO_DELAY
      this.#highest = NO_DELAY
      this.#windowSinceMs = nowMs
    }
    if (totalOf(delay) > totalOf(this.#highest)) this.#highest = delay
  }

  /** Adds the time since the last account to the record of the session, if the robot could be driven in it. */
  account(isDriving: boolean, nowMs: number): void {
    const elapsedMs = nowMs - this.#accountedMs
    if (this.enabled && isDriving && this.#wasDriving && elapsedMs < MAX_ACCOUNT_MS) {
      if (this.#scale < 1) this.#increment.limitedMs += elapsedMs
      if (this.#scale < 1 && this.#isPictureCause) this.#increment.pictureLimitedMs += elapsedMs
      // Every connection begins with an unknown latency, whose scale says nothing about the link.
      if (!this.#unknown) {
        this.#increment.budgetedMs += elapsedMs
        this.#increment.scaledMs += elapsedMs * this.#scale
      }
    }
    this.#accountedMs = nowMs
    this.#wasDriving = isDriving
  }

  /** Returns the record since the last call. `restore` it if writing fails. */
  take(): SpeedIncrement {
    const taken = this.#increment
    this.#increment = emptyIncrement()
    return taken
  }

  restore({ budgetedMs, scaledMs, limitedMs, pictureLimitedMs, minScale }: SpeedIncrement): void {
    this.#increment.budgetedMs += budgetedMs
    this.#increment.scaledMs += scaledMs
    this.#increment.limitedMs += limitedMs
    this.#increment.pictureLimitedMs += pictureLimitedMs
    this.#increment.minScale = Math.min(this.#increment.minScale, minScale)
  }
}

/** The parts of a control session that the allowed speed concerns. */
interface LimitedSession {
  readonly speed: SpeedEnvelope
  readonly robot: { readonly ordered: OrderedFrames } | null
  readonly tap: SessionTap
  participants(): Iterable<GatewayConnection>
}

/** Sends a newcomer the allowed speed, if this robot has a latency budget. */
export function sendLimits({ speed }: LimitedSession, connection: GatewayConnection, nowMs: number): void {
  if (speed.enabled) connection.send(limitsFrame(speed.limits), nowMs)
}

/** Sends the robot the allowed speed of its session, if it has a latency budget. */
export function sendLimitsToRobot({ speed, robot }: LimitedSession, nowMs: number): void {
  if (speed.enabled) robot?.ordered.sendLimits(limitsFrame(speed.limits), nowMs)
}

/** Sends the robot and the participants the allowed speed if it has changed. Returns whether it has. */
export function announceLimits(controlSession: LimitedSession, nowMs: number): boolean {
  const limits = controlSession.speed.takeChange()
  if (limits === null) return false
  const frame = limitsFrame(limits)
  controlSession.tap.frame('limits', frame)
  controlSession.robot?.ordered.sendLimits(frame, nowMs)
  for (const participant of controlSession.participants()) participant.send(frame, nowMs)
  return true
}
