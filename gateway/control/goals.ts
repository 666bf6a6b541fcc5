import { type Autonomy, type DriveGoal, type DropReason, FIRST_EPOCH } from '@wheelhouse/protocol'
import type { ControlSession, ParticipantMember, RobotMember } from './control-session.ts'
import type { Stamp } from './gate.ts'

/** Relays goals to robots that drive by themselves, and what those robots report. `preciseMs` is the clock of the control relay. */
export function createGoals({ preciseMs, clockMs }: { preciseMs: () => number; clockMs: () => number }) {
  function drop(participant: ParticipantMember, seq: number, why: DropReason): void {
    participant.sendFast(`{"type":"dropped","seq":${seq},"why":"${why}"}`, clockMs())
  }

  return {
    /** Relays a goal of the session's operator. `ttlMs` is the rest of its lifetime, as the robot receives it. */
    goal(operator: ParticipantMember, stamp: Stamp, goal: DriveGoal, ttlMs: number): void {
      const { controlSession } = operator
      if (controlSession === null) return
      if (controlSession.operator !== operator || controlSession.isChanging(clockMs)) {
        // Otherwise it is replaced, and about to close.
        if (controlSession.operator === operator || controlSession.isStandby(operator))
          drop(operator, stamp.seq, 'not_holder')
        return
      }
      const verdict = controlSession.receiveGoal(stamp, goal.frame, preciseMs())
      if (verdict !== 'pass') return drop(operator, stamp.seq, verdict)
      const frame = goalFrame(controlSession, goal, ttlMs)
      if (controlSession.robot?.ordered.sendGoal(frame, clockMs()))
        controlSession.goalSent(goal.goal_id, frame, clockMs())
      else drop(operator, stamp.seq, 'robot_slow')
    },

    /** Cancels the goal for the session's operator. Others cannot. */
    cancel(operator: ParticipantMember): void {
      const { controlSession } = operator
      if (controlSession?.operator === operator) controlSession.cancelGoal(clockMs())
    },

    /** Keeps what a robot reports of itself, and tells all participants. One that does not read gets the newest report later. */
    report(robot: RobotMember, autonomy: Autonomy): void {
      const frame = JSON.stringify(autonomy)
      if (frame === robot.autonomy?.frame) return
      robot.reportAutonomy({ frame, mode: autonomy.mode, goalFrame: autonomy.goal_frame ?? null })
      const { controlSession } = robot
      if (!controlSession) return
      const { goal } = autonomy
      if (goal && goal.status !== 'active') controlSession.stream.endGoal(goal.goal_id)
      controlSession.tap.frame('autonomy', frame)
      for (const participant of controlSession.participants())
        participant.noteMissedAutonomy(!participant.sendIfFlowing(frame, clockMs()))
    },

    /** Sends what the robot reported last to a participant that has just joined. */
    sendTo(participant: ParticipantMember): void {
      const frame = participant.controlSession?.robot?.autonomy?.frame
      if (frame !== undefined) participant.noteMissedAutonomy(!participant.sendIfFlowing(frame, clockMs()))
    },

    /** Sends the newest report to a participant that reads again, if it missed one. */
    participantDrained(participant: ParticipantMember): void {
      if (participant.missedAutonomy && participant.blockedSinceMs === 0) this.sendTo(participant)
    },
  }
}
export type Goals = ReturnType<typeof createGoals>

function goalFrame({ session, lease }: ControlSession, goal: DriveGoal, ttlMs: number): string {
  const { seq, t, goal_id, frame, x, y, heading } = goal
  const epoch = lease.epoch === FIRST_EPOCH ? undefined : lease.epoch
  return JSON.stringify({
    type: 'goal',
    session_id: session.id,
    seq,
    epoch,
    t,
    ttl_ms: ttlMs,
    goal_id,
    frame,
    x,
    y,
    heading,
  })
}
