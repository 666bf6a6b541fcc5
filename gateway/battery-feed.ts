import type { Drive, PersonMember, RobotMember } from './drive.ts'
import type { RobotLink } from './robot-link.ts'

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

  function broadcast(drive: Drive, robot: RobotMember, nowMs: number): void {
    // The margin is for sums of decimal fractions, as 0.8 - 0.79.
    const changed = Math.abs(robot.battery - drive.sentBattery) >= CHANGE - 1e-9
    if (!changed && nowMs - drive.sentBatteryMs < REPEAT_MS) return
    drive.sentBattery = robot.battery
    drive.sentBatteryMs = nowMs
    const frame = frameOf(robot)
    for (const person of drive.people()) person.sendIfFlowing(frame, nowMs)
  }

  return {
    /** Takes the charge of a heartbeat; undefined leaves the last one as it is. */
    report(link: RobotLink, charge: number | undefined, nowMs: number): void {
      if (charge === undefined) return
      link.battery = charge
      link.batteryMs = nowMs
      if (link.drive) broadcast(link.drive, link, nowMs)
    },

    /** Sends the last known charge to a participant who has just joined. */
    show(person: PersonMember, nowMs: number): void {
      const { drive } = person
      if (!drive?.robot || drive.robot.battery < 0) return
      person.sendIfFlowing(frameOf(drive.robot), nowMs)
      if (drive.sentBattery >= 0) return
      drive.sentBattery = drive.robot.battery
      drive.sentBatteryMs = nowMs
    },
  }
}
export type BatteryFeed = ReturnType<typeof createBatteryFeed>
