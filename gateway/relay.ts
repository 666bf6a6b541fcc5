import type { DropReason } from '@wheelhouse/protocol'
import type { Guard } from '../src/core/errors/guard.ts'
import type { Drive, PersonMember, RobotMember } from './drive.ts'
import { ageOf, decide, isFastest, type Stamp } from './gate.ts'

/**
 * The path of control and telemetry: from socket to socket in this process, with nobody else asked. Times here are
 * `preciseMs`, milliseconds with fractions of a clock that never jumps; links are told the gateway's own `clockMs`.
 */
export function createRelay(parts: {
  guard: Guard
  deadmanMs: number
  preciseMs: () => number
  clockMs: () => number
}) {
  const { guard, deadmanMs, preciseMs, clockMs } = parts
  const counts = { passed: 0, dropped: 0, deadman: 0 }

  function drop(drive: Drive, operator: PersonMember, seq: number, why: DropReason): void {
    counts.dropped++
    drive.tally.dropped()
    operator.sendIfFlowing(`{"type":"dropped","seq":${seq},"why":"${why}"}`, clockMs())
    if (why !== 'latency') return
    drive.tooLate = true
    if (drive.standIfMoving('latency', clockMs())) drive.tellState(clockMs())
  }

  /** Keeps a control frame for a robot that does not read: the newest only, and as long as it would pass. */
  function hold(drive: Drive, { seq, ttlMs }: Stamp, frame: string | ArrayBuffer, bornMs: number): void {
    const overtaken = drive.held
    const kept = typeof frame === 'string' ? frame : frame.slice(0) // uWebSockets takes the memory back
    const goodForMs = Math.min(ttlMs, drive.latencyLimitMs - drive.pathMs)
    drive.held = { frame: kept, seq, bornMs, goodUntilMs: bornMs + goodForMs }
    if (overtaken && drive.operator) drop(drive, drive.operator, overtaken.seq, 'robot_slow')
  }

  /** A control frame has gone to the robot: it may move from now on, for as long as control keeps coming. */
  function moved(drive: Drive, ageMs: number): void {
    counts.passed++
    drive.tally.passed(ageMs)
    drive.moving = drive.robotConnected // which it is not if it was too slow for the frame
    if (drive.stop === null || drive.stopLatched) return
    drive.stop = null // it ended with this frame
    drive.tellState(clockMs())
  }

  /** One timer a session, set again only when it fires: frames just write down when they came. */
  const watchIn = guard.timer('timer:deadman', watch, cutRobot)
  function watch(drive: Drive): void {
    const leftMs = drive.lastPassMs + deadmanMs - preciseMs()
    if (leftMs > 0) {
      drive.deadman = watchIn(Math.ceil(leftMs), drive)
      return
    }
    drive.deadman = undefined
    drive.held = null
    if (!drive.standIfMoving('deadman', clockMs())) return
    counts.deadman++
    drive.tellState(clockMs())
  }

  /** A robot whose deadman failed brakes when its connection ends, and comes back. */
  function cutRobot(drive: Drive): void {
    drive.still()
    drive.robot?.close('internalError')
  }

  return {
    counts: counts as Readonly<typeof counts>,

    /** A control frame of the session's operator, as the robot gets it if it passes. */
    control(operator: PersonMember, stamp: Stamp, frame: string | ArrayBuffer): void {
      const drive = operator.drive
      if (drive === null || drive.operator !== operator) return // an older socket, on its way out
      const nowMs = preciseMs()
      if (isFastest(drive, stamp.t, nowMs)) {
        drive.offsetMs = nowMs - stamp.t
        drive.offsetSeenMs = nowMs
      }
      const verdict = decide(drive, stamp, nowMs)
      if (verdict !== 'pass' || drive.robot === null) {
        return drop(drive, operator, stamp.seq, verdict === 'pass' ? 'robot_offline' : verdict)
      }
      const ageMs = ageOf(drive, stamp.t, nowMs)
      drive.lastSeq = stamp.seq
      drive.lastPassMs = nowMs
      drive.tooLate = false
      drive.deadman ??= watchIn(deadmanMs, drive)
      if (drive.robot.sendIfFlowing(frame, clockMs())) moved(drive, ageMs)
      else hold(drive, stamp, frame, nowMs - ageMs)
    },

    /** The robot reads again: it gets the newest frame that waited, unless that has become too old. */
    robotDrained(robot: RobotMember): void {
      const drive = robot.drive
      if (!drive?.held || robot.blockedSinceMs !== 0) return
      const { frame, seq, bornMs, goodUntilMs } = drive.held
      drive.held = null
      const nowMs = preciseMs()
      if (nowMs > goodUntilMs) {
        if (drive.operator) drop(drive, drive.operator, seq, 'expired')
        return
      }
      robot.send(frame, clockMs())
      moved(drive, nowMs - bornMs)
    },

    /** The robot obeyed a control frame. */
    ack(robot: RobotMember, seq: number): void {
      robot.drive?.operator?.sendIfFlowing(`{"type":"ack","seq":${seq}}`, clockMs())
    },

    /** What the robot senses, to everybody who takes part; to those who do not read, the newest once they do. */
    telemetry(robot: RobotMember, frame: string | ArrayBuffer): void {
      if (!robot.drive) return
      for (const person of robot.drive.people()) {
        if (person.sendIfFlowing(frame, clockMs())) continue
        person.heldTelemetry = typeof frame === 'string' ? frame : frame.slice(0)
      }
    },

    personDrained(person: PersonMember): void {
      if (person.heldTelemetry === null || person.blockedSinceMs !== 0) return
      const frame = person.heldTelemetry
      person.heldTelemetry = null
      person.send(frame, clockMs())
    },
  }
}
export type Relay = ReturnType<typeof createRelay>
