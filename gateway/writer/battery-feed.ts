import type { GatewayClock } from '../base/clock.ts'
import type { ControlSession, ParticipantMember, RobotMember } from '../control/control-session.ts'

/** A smaller change is not sent, unless `REPEAT_MS` have passed since the last frame. */
const MIN_CHANGE = 0.01
const REPEAT_MS = 10_000

/** Reads a charge and clamps it to 0 to 1. Returns undefined for anything but a number. */
export function chargeOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined
  return Math.min(Math.max(value, 0), 1)
}

/** A robot's connection that keeps the charge. */
interface ReportingRobot extends RobotMember {
  reportBattery(charge: number, nowMs: number): void
}

/**
 * Sends the charge of robots to the participants of their sessions. The heartbeat flush persists it. While the robot is
 * in no session, a report only stores two numbers.
 */
export function createBatteryFeed({ unixMs }: Pick<GatewayClock, 'unixMs'>) {
  /** The last reports sent to the participants of each session, and their times. */
  const lastSent = new WeakMap<ControlSession, { readonly charge: number; readonly atMs: number }>()

  const frameOf = ({ battery, batteryMs }: RobotMember) =>
    JSON.stringify({ type: 'battery', battery, at: unixMs(batteryMs) })

  function broadcast(controlSession: ControlSession, robot: RobotMember, nowMs: number): void {
    const last = lastSent.get(controlSession)
    // The margin is for differences of decimal fractions, as 0.8 - 0.79.
    const isSmallChange = last && Math.abs(robot.battery - last.charge) < MIN_CHANGE - 1e-9
    if (isSmallChange && nowMs - last.atMs < REPEAT_MS) return
    lastSent.set(controlSession, { charge: robot.battery, atMs: nowMs })
    const frame = frameOf(robot)
    for (const participant of controlSession.participants()) participant.sendIfFlowing(frame, nowMs)
  }

  return {
    /** Records the charge of a heartbeat; undefined leaves the last one unchanged. */
    report(connection: ReportingRobot, charge: number | undefined, nowMs: number): void {
      if (charge === undefined) return
      connection.reportBattery(charge, nowMs)
      if (connection.controlSession) broadcast(connection.controlSession, connection, nowMs)
    },

    /** Sends the last known charge to a participant that has just joined. */
    sendTo(participant: ParticipantMember, nowMs: number): void {
      const { controlSession } = participant
      if (!controlSession?.robot || controlSession.robot.battery < 0) return
      participant.sendIfFlowing(frameOf(controlSession.robot), nowMs)
      if (lastSent.has(controlSession)) return
      lastSent.set(controlSession, { charge: controlSession.robot.battery, atMs: nowMs })
    },
  }
}
export type BatteryFeed = ReturnType<typeof createBatteryFeed>
