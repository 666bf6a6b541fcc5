import type { GatewayConnection } from '../base/connection.ts'
import type { OrderedFrames } from '../channel/ordered-frames.ts'
import type { SessionTap } from '../recording/session-tap.ts'
import { limitsFrame } from './session-frames.ts'
import type { SpeedEnvelope } from './speed-envelope.ts'

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
