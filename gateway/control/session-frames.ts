import type { DriveStop, Lease, RobotSession, SessionStatus, SpeedLimits } from '@wheelhouse/protocol'
import type { OpenSession } from '../../src/modules/presence/index.ts'

/** Largest schema that a robot receives, in bytes of its JSON text. Two of them fit into a frame. */
const MAX_SENT_SCHEMA_BYTES = 24 * 1024

/** Describes an open session to its robot. Omits a schema that is not declared, or too large for a frame. */
export function robotSession(session: OpenSession): RobotSession {
  const { id, status, operatorName, controlSchema, telemetrySchema } = session
  return {
    session_id: id,
    status,
    operator_name: operatorName,
    ...(isSendable(controlSchema) && { control_schema: controlSchema }),
    ...(isSendable(telemetrySchema) && { telemetry_schema: telemetrySchema }),
  }
}

const isSendable = <S>(schema: S | null): schema is S =>
  schema !== null && Buffer.byteLength(JSON.stringify(schema)) <= MAX_SENT_SCHEMA_BYTES

/** Describes a latched stop to a robot; null if none is latched. The stop stays until `stop_cleared`. */
export function latchedStop(stop: DriveStop | null): { reason: string; latched: true } | null {
  return stop?.latched ? { reason: stop.reason, latched: true } : null
}

export const STOP_CLEARED_FRAME = '{"type":"stop_cleared"}'

export const sessionFrame = (session: OpenSession): string =>
  JSON.stringify({ type: 'session', ...robotSession(session) })

export const stopFrame = (reason: string, latched: boolean): string =>
  JSON.stringify({ type: 'stop', reason, latched })

export const cancelGoalFrame = (goalId: string): string =>
  JSON.stringify({ type: 'cancel_goal', goal_id: goalId })

/** Tells the robot who holds control. */
export const robotLeaseFrame = ({ epoch, holder }: Lease): string =>
  JSON.stringify({ type: 'lease', epoch, holder })

/** Largest command and sample that a new holder receives, in characters: two fit into a frame. */
const MAX_LAST_CHARS = 24 * 1024

/**
 * Tells a participant who holds control.
 * @param last for the new holder, what the robot was told and reported last. Binary frames are between the programs, and left out.
 */
export function leaseFrame(
  { epoch, holder }: Lease,
  you: boolean,
  last?: Readonly<Record<'command' | 'telemetry', string | ArrayBuffer | null>>,
): string {
  const dataOf = (frame: string | ArrayBuffer | null | undefined): unknown =>
    typeof frame === 'string' && frame.length <= MAX_LAST_CHARS ? JSON.parse(frame).data : undefined
  const command = dataOf(last?.command)
  const telemetry = dataOf(last?.telemetry)
  const hasLast = command !== undefined || telemetry !== undefined
  return JSON.stringify({
    type: 'lease',
    epoch,
    holder,
    you,
    ...(hasLast && { last: { command, telemetry } }),
  })
}

export const limitsFrame = (limits: SpeedLimits): string => JSON.stringify({ type: 'limits', ...limits })

export const stateFrame = (status: SessionStatus, robotConnected: boolean, stop: DriveStop | null): string =>
  JSON.stringify({ type: 'state', status, robot_connected: robotConnected, stop })
