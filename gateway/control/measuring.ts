import type { Guard } from '../../src/core/process/guard.ts'
import type { ControlSession, ParticipantMember, RobotMember } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'
import { announceLimits } from './speed-envelope.ts'

/** Slots of a measuring period. Each slot measures some of the sessions, because a ping is a system call. */
export const MEASURE_SLOTS = 50

/**
 * Measures the round trips to robots and operators, limits the speed by them and by the age of the picture, and sends them to the
 * participants.
 */
export function createMeasuring(deps: {
  sessionRegistry: ControlSessionRegistry
  guard: Guard
  preciseMs: () => number
  clockMs: () => number
}) {
  const { sessionRegistry, guard, preciseMs, clockMs } = deps
  let slot = 0

  /** Pings both sides. The pong of a peer is its sign of life; while a data channel delivers, its probes measure the round trip. */
  const pingsOf = ({ robot, operator }: ControlSession) => ({
    robot: () => robot?.ping() === true && robot.channel?.trusted !== true,
    operator: () => operator?.ping() === true && operator.channel?.trusted !== true,
  })

  /** Limits the speed by the newest round trips. Control frames report their own delays. */
  function updateSpeed(controlSession: ControlSession): void {
    const { speed, latencyRecorder, stream } = controlSession
    if (!speed.enabled) return
    const nowMs = preciseMs()
    speed.account(controlSession.isDrivable, nowMs)
    const pathMs = latencyRecorder.currentPathMs(nowMs)
    const pictureMs = stream.picture.recentMs(nowMs)
    speed.observe(pathMs === undefined ? undefined : { commandMs: pathMs, pictureMs }, nowMs)
    announceLimits(controlSession, clockMs())
  }

  /** Measures a session at once in which the robot only creeps because its latency is unknown. */
  const measureUnknown = guard.handler('session:unknown-latency', (controlSession: ControlSession): void => {
    controlSession.latencyRecorder.measureUnknown(preciseMs(), pingsOf(controlSession))
    announceLimits(controlSession, clockMs())
  })

  /** Pings the robot and the participants, and sends the participants the last round trips. */
  const measure = guard.handler('session:latency', (controlSession: ControlSession): void => {
    controlSession.latencyRecorder.measure(preciseMs(), pingsOf(controlSession))
    updateSpeed(controlSession)
    const frame = controlSession.latencyRecorder.frame(preciseMs())
    controlSession.tap.frame('latency', frame)
    for (const participant of controlSession.participants()) {
      if (participant !== controlSession.operator) participant.ping()
      participant.sendIfFlowing(frame, clockMs())
    }
  })

  return {
    /** Measures the sessions of the next slot. Call it `MEASURE_SLOTS` times in each measuring period. */
    measureSlot(): void {
      slot = (slot + 1) % MEASURE_SLOTS
      for (const controlSession of sessionRegistry.all()) {
        if (controlSession.ordinal % MEASURE_SLOTS === slot && !controlSession.hasNoParticipants)
          measure(controlSession)
        else if (controlSession.speed.unknown && controlSession.isDrivable) measureUnknown(controlSession)
      }
    },

    /** Notes the pong of a robot's library. */
    robotAnswered({ controlSession }: RobotMember): void {
      if (!controlSession) return
      controlSession.latencyRecorder.robotAnswered(preciseMs())
      updateSpeed(controlSession)
    },

    /** Notes a round trip to a robot over its data channel. */
    robotMeasured({ controlSession }: RobotMember, roundTripMs: number): void {
      if (!controlSession) return
      controlSession.latencyRecorder.robotMeasured(roundTripMs, preciseMs())
      updateSpeed(controlSession)
    },

    /** Notes the pong of a participant's library, which is a sign of life. */
    participantAnswered(connection: ParticipantMember): void {
      connection.recordSign(clockMs())
      const { controlSession } = connection
      if (controlSession?.operator !== connection) return
      controlSession.latencyRecorder.operatorAnswered(preciseMs())
      updateSpeed(controlSession)
    },

    /** Notes a round trip to an operator over the data channel. */
    operatorMeasured(connection: ParticipantMember, roundTripMs: number): void {
      const { controlSession } = connection
      if (controlSession?.operator !== connection) return
      controlSession.latencyRecorder.operatorMeasured(roundTripMs, preciseMs())
      updateSpeed(controlSession)
    },
  }
}
