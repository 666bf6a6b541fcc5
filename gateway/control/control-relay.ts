import type { DropReason } from '@wheelhouse/protocol'
import type { Guard } from '../../src/core/process/guard.ts'
import type { ControlSession, ParticipantMember, RobotMember } from './control-session.ts'
import { ageOf, decide, isFastest, type Stamp } from './gate.ts'

/**
 * The path of control and telemetry: from socket to socket in this process, with nobody else asked. Times here are
 * `preciseMs`, milliseconds with fractions of a clock that never jumps; links are told the gateway's own `clockMs`.
 */
export function createControlRelay(deps: {
  guard: Guard
  deadmanMs: number
  preciseMs: () => number
  clockMs: () => number
}) {
  const { guard, deadmanMs, preciseMs, clockMs } = deps
  const counts = { passed: 0, dropped: 0, deadman: 0 }

  function drop(
    controlSession: ControlSession,
    operator: ParticipantMember,
    seq: number,
    why: DropReason,
  ): void {
    counts.dropped++
    controlSession.latencyRecorder.dropped()
    operator.sendIfFlowing(`{"type":"dropped","seq":${seq},"why":"${why}"}`, clockMs())
    if (why !== 'latency') return
    controlSession.tooLate = true
    if (controlSession.haltIfMoving('latency', clockMs())) controlSession.broadcastState(clockMs())
  }

  /** Keeps a control frame for a robot that does not read: the newest only, and as long as it would pass. */
  function bufferControl(
    controlSession: ControlSession,
    { seq, ttlMs }: Stamp,
    frame: string | ArrayBuffer,
    createdAtMs: number,
  ): void {
    const superseded = controlSession.bufferedControl
    const copy = typeof frame === 'string' ? frame : frame.slice(0) // uWebSockets takes the memory back
    const validForMs = Math.min(ttlMs, controlSession.latencyLimitMs - controlSession.pathMs)
    controlSession.bufferedControl = { frame: copy, seq, createdAtMs, validUntilMs: createdAtMs + validForMs }
    if (superseded && controlSession.operator)
      drop(controlSession, controlSession.operator, superseded.seq, 'robot_slow')
  }

  /** A control frame has gone to the robot: it may move from now on, for as long as control keeps coming. */
  function onControlPassed(controlSession: ControlSession, ageMs: number): void {
    counts.passed++
    controlSession.latencyRecorder.passed(ageMs)
    controlSession.moving = controlSession.robotConnected // which it is not if it was too slow for the frame
    if (controlSession.stop === null || controlSession.stopLatched) return
    controlSession.stop = null // it ended with this frame
    controlSession.broadcastState(clockMs())
  }

  /** One timer a session, set again only when it fires: frames just write down when they came. */
  const scheduleDeadmanCheck = guard.timer('timer:deadman', checkDeadman, disconnectRobot)
  function checkDeadman(controlSession: ControlSession): void {
    const leftMs = controlSession.lastPassMs + deadmanMs - preciseMs()
    if (leftMs > 0) {
      controlSession.deadman = scheduleDeadmanCheck(Math.ceil(leftMs), controlSession)
      return
    }
    controlSession.deadman = undefined
    controlSession.bufferedControl = null
    if (!controlSession.haltIfMoving('deadman', clockMs())) return
    counts.deadman++
    controlSession.broadcastState(clockMs())
  }

  /** A robot whose deadman failed brakes when its connection ends, and comes back. */
  function disconnectRobot(controlSession: ControlSession): void {
    controlSession.clearMotion()
    controlSession.robot?.close('internalError')
  }

  return {
    counts: counts as Readonly<typeof counts>,

    /** A control frame of the session's operator, as the robot gets it if it passes. */
    control(operator: ParticipantMember, stamp: Stamp, frame: string | ArrayBuffer): void {
      const controlSession = operator.controlSession
      if (controlSession === null || controlSession.operator !== operator) return // an older socket, on its way out
      const nowMs = preciseMs()
      if (isFastest(controlSession, stamp.t, nowMs)) {
        controlSession.offsetMs = nowMs - stamp.t
        controlSession.offsetSeenMs = nowMs
      }
      const verdict = decide(controlSession, stamp, nowMs)
      if (verdict !== 'pass' || controlSession.robot === null) {
        return drop(controlSession, operator, stamp.seq, verdict === 'pass' ? 'robot_offline' : verdict)
      }
      const ageMs = ageOf(controlSession, stamp.t, nowMs)
      controlSession.lastSeq = stamp.seq
      controlSession.lastPassMs = nowMs
      controlSession.tooLate = false
      controlSession.deadman ??= scheduleDeadmanCheck(deadmanMs, controlSession)
      if (controlSession.robot.sendIfFlowing(frame, clockMs())) onControlPassed(controlSession, ageMs)
      else bufferControl(controlSession, stamp, frame, nowMs - ageMs)
    },

    /** The robot reads again: it gets the newest frame that waited, unless that has become too old. */
    robotDrained(robot: RobotMember): void {
      const controlSession = robot.controlSession
      if (!controlSession?.bufferedControl || robot.blockedSinceMs !== 0) return
      const { frame, seq, createdAtMs, validUntilMs } = controlSession.bufferedControl
      controlSession.bufferedControl = null
      const nowMs = preciseMs()
      if (nowMs > validUntilMs) {
        if (controlSession.operator) drop(controlSession, controlSession.operator, seq, 'expired')
        return
      }
      robot.send(frame, clockMs())
      onControlPassed(controlSession, nowMs - createdAtMs)
    },

    /** The robot obeyed a control frame. */
    ack(robot: RobotMember, seq: number): void {
      robot.controlSession?.operator?.sendIfFlowing(`{"type":"ack","seq":${seq}}`, clockMs())
    },

    /** What the robot senses, to everybody who takes part; to those who do not read, the newest once they do. */
    telemetry(robot: RobotMember, frame: string | ArrayBuffer): void {
      if (!robot.controlSession) return
      for (const participant of robot.controlSession.participants()) {
        if (participant.sendIfFlowing(frame, clockMs())) continue
        participant.bufferedTelemetry = typeof frame === 'string' ? frame : frame.slice(0)
      }
    },

    participantDrained(participant: ParticipantMember): void {
      if (participant.bufferedTelemetry === null || participant.blockedSinceMs !== 0) return
      const frame = participant.bufferedTelemetry
      participant.bufferedTelemetry = null
      participant.send(frame, clockMs())
    },
  }
}
export type ControlRelay = ReturnType<typeof createControlRelay>
