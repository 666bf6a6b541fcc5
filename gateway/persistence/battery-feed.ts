import type { RobotConnection } from '../connections/robot-connection.ts'
import type { ControlSession, ParticipantMember, RobotMember } from '../control/control-session.ts'

/** A smaller change waits until the next one, or for `REPEAT_MS`. */
const CHANGE = 0.01
const REPEAT_MS = 10_000

/**
 * Reads a charge: clamped to 0 to 1, undefined when it is no number.
 */
export function chargeOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined
  return Math.min(Math.max(value, 0), 1)
}

/**
 * The charge of robots, live to the participants of their sessions. The heartbeat flush persists it. A report only
 * stores two numbers while the robot is in no session.
 */
export function createBatteryFeed({ startedAtMs }: { startedAtMs: number }) {
  const frameOf = ({ battery, batteryMs }: RobotMember) =>
    JSON.stringify({ type: 'battery', battery, at: startedAtMs + batteryMs })

  function broadcast(controlSession: ControlSession, robot: RobotMember, nowMs: number): void {
    // The margin is for sums of decimal fractions, as 0.8 - 0.79.
    const changed = Math.abs(robot.battery - controlSession.sentBattery) >= CHANGE - 1e-9
    if (!changed && nowMs - controlSession.sentBatteryMs < REPEAT_MS) return
    controlSession.sentBattery = robot.battery
    controlSession.sentBatteryMs = nowMs
    const frame = frameOf(robot)
    for (const participant of controlSession.participants()) participant.sendIfFlowing(frame, nowMs)
  }

  return {
    /** Takes the charge of a heartbeat; undefined leaves the last one as it is. */
    report(connection: RobotConnection, charge: number | undefined, nowMs: number): void {
      if (charge === undefined) return
      connection.battery = charge
      connection.batteryMs = nowMs
      if (connection.controlSession) broadcast(connection.controlSession, connection, nowMs)
    },

    /** Sends the last known charge to a participant who has just joined. */
    show(participant: ParticipantMember, nowMs: number): void {
      const { controlSession } = participant
      if (!controlSession?.robot || controlSession.robot.battery < 0) return
      participant.sendIfFlowing(frameOf(controlSession.robot), nowMs)
      if (controlSession.sentBattery >= 0) return
      controlSession.sentBattery = controlSession.robot.battery
      controlSession.sentBatteryMs = nowMs
    },
  }
}
export type BatteryFeed = ReturnType<typeof createBatteryFeed>
