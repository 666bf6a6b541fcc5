import type { DropReason } from '@wheelhouse/protocol'
import type { PictureAge } from './picture-age.ts'

/**
 * How far an operator's clock may drift from the gateway's, in milliseconds per millisecond. Ordinary clocks drift by a
 * twentieth of that. A connection that slows down by a second exceeds this allowance for more than an hour.
 */
const MAX_CLOCK_DRIFT = 0.0002
/** After commands or the picture were too old, they must be below this share of the limit before the robot moves again. */
const RECOVERED_SHARE = 0.8

/** What the session says about a control frame. */
export interface DriveState {
  /** Whether the robot is connected. */
  readonly connected: boolean
  /** Whether the session is ACTIVE. */
  readonly active: boolean
  /** Whether a stop is latched. */
  readonly latched: boolean
}

/** What the control frames themselves say: the stream's state. Times are milliseconds of a clock that never jumps. */
export interface Gate {
  /** The number of the last frame that passed on this operator's connection; -1 before the first one. */
  readonly lastSeq: number
  /** Smallest difference between the gateway's clock and `t` on this connection; Infinity before the first frame. */
  readonly offsetMs: number
  /** When the gateway measured this difference. */
  readonly offsetSeenMs: number
  /** The least time that a command takes: half of the round trips to the operator and to the robot. */
  readonly pathMs: number
  readonly latencyLimitMs: number
  /** Whether commands exceeded the limit and have not been well below it since. */
  readonly tooLate: boolean
  /** The age of the operator's picture above which the robot does not move; null for no limit. */
  readonly videoLimitMs: number | null
  readonly picture: Pick<PictureAge, 'at' | 'tooOld'>
}

/** The header of a control frame. */
export interface Stamp {
  readonly seq: number
  /** The operator's clock when the frame was made. */
  readonly t: number
  /** The greatest valid age. Negative for a lifetime that is shorter than the path. */
  readonly ttlMs: number
  /** How old the operator's picture was; null if that is unknown; undefined if the operator's program does not say. */
  readonly videoAgeMs?: number | null | undefined
}

/** Decides whether a control frame reaches the robot; returns the reason if it does not. */
export function decide(state: DriveState, gate: Gate, stamp: Stamp, nowMs: number): 'pass' | DropReason {
  const ageMs = ageOf(gate, stamp.t, nowMs)
  const refusal = refusalOf(state, gate, stamp, ageMs)
  if (refusal !== undefined) return refusal
  const limitMs = gate.latencyLimitMs * (gate.tooLate ? RECOVERED_SHARE : 1)
  if (ageMs + gate.pathMs > limitMs) return 'latency'
  return isPictureTooOld(gate, nowMs) ? 'video_stale' : 'pass'
}

/**
 * Decides whether a goal reaches the robot. The robot drives by itself, so neither the latency nor the operator's picture matters.
 * @param isAccepted whether the robot accepts goals in its coordinate frame
 */
export function decideGoal(
  state: DriveState,
  gate: Gate,
  stamp: Stamp,
  isAccepted: boolean,
  nowMs: number,
): 'pass' | DropReason {
  return refusalOf(state, gate, stamp, ageOf(gate, stamp.t, nowMs)) ?? (isAccepted ? 'pass' : 'no_goals')
}

/** Returns why neither a command nor a goal may reach the robot; undefined if both may. */
function refusalOf(
  { connected, active, latched }: DriveState,
  gate: Gate,
  { seq, ttlMs }: Stamp,
  ageMs: number,
): DropReason | undefined {
  if (!connected) return 'robot_offline'
  if (latched) return 'stopped'
  if (!active) return 'session_paused'
  if (seq <= gate.lastSeq) return 'out_of_order'
  return ageMs > ttlMs ? 'expired' : undefined
}

/** Returns whether the operator sees a picture that is too old to drive by. One of unknown age is. */
function isPictureTooOld({ videoLimitMs, picture }: Gate, nowMs: number): boolean {
  const ageMs = videoLimitMs === null ? undefined : picture.at(nowMs)
  if (videoLimitMs === null || ageMs === undefined) return false
  if (ageMs === null) return true
  return ageMs > videoLimitMs * (picture.tooOld ? RECOVERED_SHARE : 1)
}

type OperatorClock = Pick<Gate, 'offsetMs' | 'offsetSeenMs'>

/**
 * Returns how much longer a frame took than the fastest frame of its connection. The frames of a burst after a stall
 * arrive together, but their times reveal the stall.
 */
export function ageOf(clock: OperatorClock, t: number, nowMs: number): number {
  return Math.max(0, nowMs - t - expectedOffset(clock, nowMs))
}

/** Returns whether a frame was faster than all earlier ones. Later frames are compared with it. */
export function isFastest(clock: OperatorClock, t: number, nowMs: number): boolean {
  return nowMs - t <= expectedOffset(clock, nowMs)
}

/**
 * Returns how long a command has existed when its age at the robot is 0: the way of the fastest frame, and what gateway
 * and robot each allow for the drift of clocks.
 */
export function ageOffsetMs(gate: OperatorClock & Pick<Gate, 'pathMs'>, nowMs: number): number {
  return gate.pathMs + 2 * driftAllowanceMs(gate, nowMs)
}

function driftAllowanceMs({ offsetMs, offsetSeenMs }: OperatorClock, nowMs: number): number {
  return offsetMs === Number.POSITIVE_INFINITY ? 0 : (nowMs - offsetSeenMs) * MAX_CLOCK_DRIFT
}

const expectedOffset = (clock: OperatorClock, nowMs: number): number =>
  clock.offsetMs + driftAllowanceMs(clock, nowMs)
