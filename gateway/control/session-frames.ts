import type { DriveStop, RobotSession, SessionStatus, SpeedLimits } from '@wheelhouse/protocol'
import type { OpenSession } from '../../src/modules/presence/index.ts'

/** Describes an open session to its robot. */
export function robotSession({ id, status, operatorName }: OpenSession): RobotSession {
  return { session_id: id, status, operator_name: operatorName }
}

/** Describes a latched stop to a robot; null if none is latched. The stop stays until `stop_cleared`. */
export function latchedStop(stop: DriveStop | null): { reason: string; latched: true } | null {
  return stop?.latched ? { reason: stop.reason, latched: true } : null
}

export const STOP_CLEARED_FRAME = '{"type":"stop_cleared"}'

export const sessionFrame = (session: OpenSession): string =>
  JSON.stringify({ type: 'session', ...robotSession(session) })

export const stopFrame = (reason: string, latched: boolean): string =>
  JSON.stringify({ type: 'stop', reason, latched })

export const limitsFrame = (limits: SpeedLimits): string => JSON.stringify({ type: 'limits', ...limits })

export const stateFrame = (status: SessionStatus, robotConnected: boolean, stop: DriveStop | null): string =>
  JSON.stringify({ type: 'state', status, robot_connected: robotConnected, stop })
