import type { DropReason } from '@wheelhouse/protocol'

/**
 * How far an operator's clock may run away from ours, in milliseconds per millisecond. Ordinary clocks drift by a
 * twentieth of it; a link that slows down by a second is not forgiven before more than an hour has passed.
 */
const MAX_CLOCK_DRIFT = 0.0002
/** Once commands took too long, they must be this much faster than the limit before the robot moves again. */
const RECOVERED_SHARE = 0.8

/** What decides over a control frame. Times are milliseconds of a clock that never jumps. */
export interface Gate {
  readonly robotConnected: boolean
  /** The session is ACTIVE. */
  readonly active: boolean
  readonly stopLatched: boolean
  /** Of the last frame that passed on this operator's link; -1 before the first. */
  readonly lastSeq: number
  /** Smallest difference between our clock and the frames' `t` on this link; Infinity before the first frame. */
  readonly offsetMs: number
  /** When that was seen. */
  readonly offsetSeenMs: number
  /** What a command takes at the least: half the round trips to the operator and to the robot. */
  readonly pathMs: number
  readonly latencyLimitMs: number
  /** Commands have been over the limit, and not well below it since. */
  readonly tooLate: boolean
}

/** What a control frame says of itself. */
export interface Stamp {
  readonly seq: number
  /** The operator's clock when it was made. */
  readonly t: number
  readonly ttlMs: number
}

/** Decides one control frame: whether it reaches the robot, and if not, why. */
export function decide(gate: Gate, { seq, t, ttlMs }: Stamp, nowMs: number): 'pass' | DropReason {
  if (!gate.robotConnected) return 'robot_offline'
  if (gate.stopLatched) return 'stopped'
  if (!gate.active) return 'session_paused'
  if (seq <= gate.lastSeq) return 'out_of_order'
  const ageMs = ageOf(gate, t, nowMs)
  if (ageMs > ttlMs) return 'expired'
  const limitMs = gate.latencyLimitMs * (gate.tooLate ? RECOVERED_SHARE : 1)
  return ageMs + gate.pathMs > limitMs ? 'latency' : 'pass'
}

type OperatorClock = Pick<Gate, 'offsetMs' | 'offsetSeenMs'>

/**
 * How much longer than the fastest frame of its link a frame was on its way. A burst after a stall carries the
 * stall in its stamps, and so is found to be old though it arrives at once.
 */
export function ageOf(clock: OperatorClock, t: number, nowMs: number): number {
  return Math.max(0, nowMs - t - expectedOffset(clock, nowMs))
}

/** Whether a frame was faster than all before it, so that its offset is the one to compare with from now on. */
export function isFastest(clock: OperatorClock, t: number, nowMs: number): boolean {
  return nowMs - t <= expectedOffset(clock, nowMs)
}

function expectedOffset({ offsetMs, offsetSeenMs }: OperatorClock, nowMs: number): number {
  return offsetMs === Number.POSITIVE_INFINITY
    ? offsetMs
    : offsetMs + (nowMs - offsetSeenMs) * MAX_CLOCK_DRIFT
}
