import { type ControlRules, type DropReason, limitSpeed, type ScaledCommand } from '@wheelhouse/protocol'
import type { Guard } from '../../src/core/process/guard.ts'
import type { ControlSession, ParticipantMember, RobotMember } from './control-session.ts'
import { ageOf, type Gate, type Stamp } from './gate.ts'
import { announceLimits } from './speed-envelope.ts'

/**
 * Relays control and telemetry from socket to socket within this process. Times here are `preciseMs`, milliseconds with
 * fractions of a clock that never jumps; connections use the gateway's own `clockMs`.
 */
export function createControlRelay(deps: {
  guard: Guard
  deadmanMs: number
  preciseMs: () => number
  clockMs: () => number
}) {
  const { guard, deadmanMs, preciseMs, clockMs } = deps
  const counts = { passed: 0, dropped: 0, videoStale: 0, limited: 0, deadman: 0 }

  function drop(
    controlSession: ControlSession,
    operator: ParticipantMember,
    { seq, frame }: DroppedFrame,
    why: DropReason,
  ): void {
    counts.dropped++
    controlSession.tap.dropped(frame, why)
    controlSession.latencyRecorder.dropped()
    operator.sendFast(`{"type":"dropped","seq":${seq},"why":"${why}"}`, clockMs())
    if (why === 'video_stale') {
      counts.videoStale++
      controlSession.pictureAgeCounts.dropped()
    } else if (why !== 'latency') return
    if (controlSession.stops.haltIfMoving(why, clockMs())) controlSession.broadcastState(clockMs())
  }

  /**
   * Drops a command of somebody who does not hold control. It says nothing about the latency of who does. A recording has those of
   * policies, to compare them with what the person did.
   */
  function dropForeign(
    controlSession: ControlSession,
    participant: ParticipantMember,
    { seq, frame }: DroppedFrame,
  ): void {
    counts.dropped++
    const holds = controlSession.operator === participant
    if (holds || participant.isProgram)
      controlSession.tap.dropped(frame, 'not_holder', holds ? undefined : participant.account)
    participant.sendFast(`{"type":"dropped","seq":${seq},"why":"not_holder"}`, clockMs())
  }

  /** Buffers the newest control frame for a robot that does not read, for as long as the frame would pass. */
  function bufferControl(
    controlSession: ControlSession,
    { seq, ttlMs }: Stamp,
    frame: string | ArrayBuffer,
    createdAtMs: number,
  ): void {
    const { stream } = controlSession
    const copy = typeof frame === 'string' ? frame : frame.slice(0) // uWebSockets reuses the memory
    const validForMs = Math.min(ttlMs, stream.latencyLimitMs - stream.pathMs)
    const validUntilMs = Math.min(createdAtMs + validForMs, pictureValidUntilMs(stream))
    const replaced = stream.buffer({ frame: copy, seq, createdAtMs, validUntilMs })
    if (replaced && controlSession.operator)
      drop(controlSession, controlSession.operator, replaced, 'robot_slow')
  }

  /** Returns until when the operator's picture is fresh enough for a command that was given by it. */
  function pictureValidUntilMs({ picture, videoLimitMs }: Pick<Gate, 'picture' | 'videoLimitMs'>): number {
    const nowMs = preciseMs()
    const ageMs = picture.at(nowMs)
    if (videoLimitMs === null || ageMs === undefined) return Number.POSITIVE_INFINITY
    return ageMs === null ? nowMs : nowMs + videoLimitMs - ageMs
  }

  /**
   * Returns the frame with its speeds slowed down to the scale, and no value ahead of its rate, in the form that was judged. Only
   * frames that must be changed are parsed.
   */
  function slowDown(
    frame: string | ArrayBuffer,
    { speed: { scale }, rules, motionLimiter }: ControlSession,
    nowMs: number,
  ): string | ArrayBuffer {
    if ((scale === 1 && motionLimiter === null) || typeof frame !== 'string') return frame
    const control: ScaledCommand = JSON.parse(frame) // made by this process
    const slowed = scale === 1 ? control : limitSpeed(control, scale, rules)
    const data = motionLimiter ? motionLimiter.limit(slowed.data, nowMs, scale) : slowed.data
    const limited = data === slowed.data ? slowed : { ...slowed, data }
    if (limited !== control) counts.limited++
    return JSON.stringify(limited)
  }

  /** Returns the frame at the speed that its own latency and the earlier ones allow, and that the rates of the schema allow. */
  function limit(
    controlSession: ControlSession,
    frame: string | ArrayBuffer,
    ageMs: number,
    nowMs: number,
  ): string | ArrayBuffer {
    const { speed, stream } = controlSession
    if (speed.enabled) {
      const { pathMs, picture } = stream
      speed.observeCommand({ commandMs: ageMs + pathMs, pictureMs: picture.at(nowMs) ?? 0 }, nowMs)
      announceLimits(controlSession, clockMs())
    }
    return slowDown(frame, controlSession, nowMs)
  }

  function onControlSent(controlSession: ControlSession, frame: string | ArrayBuffer, ageMs: number): void {
    counts.passed++
    controlSession.tap.passed(frame, ageMs)
    controlSession.latencyRecorder.passed(ageMs)
    const pictureMs = controlSession.stream.picture.at(preciseMs())
    if (typeof pictureMs === 'number') controlSession.pictureAgeCounts.passed(pictureMs)
    controlSession.controlSent(frame, clockMs())
  }

  /** One timer for each session, which is set again only when it fires: frames just note when they passed. */
  const scheduleDeadmanCheck = guard.timer('timer:deadman', checkDeadman, disconnectRobot)
  function checkDeadman(controlSession: ControlSession): void {
    const leftMs = controlSession.stream.lastPassMs + deadmanMs - preciseMs()
    if (leftMs > 0) {
      controlSession.stream.startDeadman(scheduleDeadmanCheck(Math.ceil(leftMs), controlSession))
      return
    }
    if (!controlSession.expireDeadman(clockMs())) return
    counts.deadman++
    controlSession.broadcastState(clockMs())
  }

  /** Disconnects a robot whose deadman check failed. The robot halts by itself, and reconnects. */
  function disconnectRobot(controlSession: ControlSession): void {
    controlSession.stream.clearMotion('robot_offline')
    controlSession.robot?.close('internalError')
  }

  return {
    counts: counts as Readonly<typeof counts>,

    /** Relays a control frame of the session's operator, in the form that the robot receives. */
    control(operator: ParticipantMember, stamp: Stamp, frame: string | ArrayBuffer): void {
      const controlSession = operator.controlSession
      if (controlSession === null) return
      if (controlSession.operator !== operator || controlSession.isChanging(clockMs)) {
        // Otherwise it is replaced, and about to close.
        if (controlSession.operator === operator || controlSession.isStandby(operator))
          dropForeign(controlSession, operator, { seq: stamp.seq, frame })
        return
      }
      const nowMs = preciseMs()
      const { strictRules } = controlSession
      let judged = frame
      const isAllowed = strictRules
        ? () => {
            const allowed = judge(strictRules, frame)
            judged = allowed ?? frame
            return allowed !== undefined
          }
        : anyCommand // no function for each frame of other robots
      const verdict = controlSession.receiveControl(stamp, nowMs, isAllowed)
      const { robot, stream } = controlSession
      if (verdict !== 'pass' || robot === null) {
        const why = verdict === 'pass' ? 'robot_offline' : verdict
        return drop(controlSession, operator, { seq: stamp.seq, frame }, why)
      }
      const ageMs = ageOf(stream, stamp.t, nowMs)
      if (!stream.deadmanScheduled) stream.startDeadman(scheduleDeadmanCheck(deadmanMs, controlSession))
      if (stream.goalId !== null) controlSession.cancelGoal(clockMs())
      const limited = limit(controlSession, judged, ageMs, nowMs)
      if (robot.ordered.sendControl(limited, clockMs())) onControlSent(controlSession, limited, ageMs)
      else {
        controlSession.motionLimiter?.undo()
        bufferControl(controlSession, stamp, limited, nowMs - ageMs)
      }
    },

    /** Notes how old the operator's picture is: binary control frames do not contain it. */
    videoAge(operator: ParticipantMember, ageMs: number | null): void {
      const { controlSession } = operator
      if (controlSession?.operator === operator) controlSession.stream.picture.report(ageMs, preciseMs())
    },

    /** Sends the buffered frame to a robot that reads again, unless the frame has become too old. */
    robotDrained(robot: RobotMember): void {
      const { controlSession } = robot
      if (controlSession === null || robot.blockedSinceMs !== 0) return
      const buffered = controlSession.stream.takeBuffered()
      if (buffered === null) return
      const nowMs = preciseMs()
      if (nowMs > buffered.validUntilMs) {
        const { operator } = controlSession
        if (operator) drop(controlSession, operator, buffered, 'expired')
        return
      }
      const ageMs = nowMs - buffered.createdAtMs
      const frame = limit(controlSession, buffered.frame, ageMs, nowMs)
      robot.ordered.sendControl(frame, clockMs())
      onControlSent(controlSession, frame, ageMs)
    },

    /** Relays the robot's acknowledgement of a control frame. */
    ack(robot: RobotMember, seq: number): void {
      robot.controlSession?.operator?.sendFast(`{"type":"ack","seq":${seq}}`, clockMs())
    },

    /**
     * Relays telemetry to all participants. A participant that does not read gets the newest frame later. `t` is the time of the sample
     * by the robot's clock, if the frame has one.
     */
    telemetry(robot: RobotMember, frame: string | ArrayBuffer, t: unknown): void {
      const ageMs = robot.sampleAgeMs(t, preciseMs())
      if (!robot.controlSession) return
      const { tap, latencyRecorder } = robot.controlSession
      robot.controlSession.noteTelemetry(frame)
      tap.telemetry(frame, ageMs + latencyRecorder.robotPathMs())
      for (const participant of robot.controlSession.participants()) {
        if (participant.sendIfFlowing(frame, clockMs())) continue
        participant.bufferTelemetry(typeof frame === 'string' ? frame : frame.slice(0))
      }
    },

    participantDrained(participant: ParticipantMember): void {
      if (participant.blockedSinceMs !== 0) return
      const frame = participant.takeBufferedTelemetry()
      if (frame !== null) participant.send(frame, clockMs())
    },
  }
}
/** A control frame that does not reach the robot. */
interface DroppedFrame {
  readonly seq: number
  readonly frame: string | ArrayBuffer
}

const anyCommand = () => true

/**
 * Returns a command that keeps the rules of a robot in strict mode, in the form that was judged: of a name that occurs twice,
 * another reader might take the other value. Returns undefined for one that breaks them, or that is binary.
 */
function judge(rules: ControlRules, frame: string | ArrayBuffer): string | undefined {
  if (typeof frame !== 'string') return undefined
  const control: { readonly data: unknown } = JSON.parse(frame) // made by this process
  return rules.problemOf(control.data) === undefined ? JSON.stringify(control) : undefined
}

export type ControlRelay = ReturnType<typeof createControlRelay>
