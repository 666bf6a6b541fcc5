import type {
  DriveStop,
  RobotLogLevel,
  SessionLogEvent,
  SessionStatus,
  WatchedSession,
} from '@wheelhouse/protocol'

/** Events of a session watch, in order of arrival. Times are this machine's, except `at` of a log entry. */
export type WatchEvent =
  /** Connection to the hub, which delivers the log. After a disconnect it delivers all missed entries. */
  | { readonly type: 'hub'; readonly state: 'connected' | 'disconnected'; readonly reason?: string }
  /** Connection to the gateway, which sends state, telemetry and latency. */
  | {
      readonly type: 'link'
      readonly state: 'connecting' | 'online' | 'offline' | 'closed'
      readonly reason?: string
    }
  | { readonly type: 'session'; readonly session: WatchedSession }
  /** One entry of the session's log. */
  | ({ readonly type: 'event'; readonly event: string } & Omit<SessionLogEvent, 'type'>)
  | {
      readonly type: 'state'
      readonly status: SessionStatus
      readonly robot_connected: boolean
      readonly stop: DriveStop | null
    }
  | { readonly type: 'telemetry'; readonly data: unknown }
  /** A line of the robot's log. */
  | {
      readonly type: 'log'
      readonly level: RobotLogLevel
      readonly message: string
      readonly dropped: number
    }
  /** The allowed share of the robot's speed. */
  | { readonly type: 'limits'; readonly speed_scale: number; readonly reason: string | null }
  /** Charge of the robot, 0 to 1. */
  | { readonly type: 'battery'; readonly battery: number }
  /** Round trips in milliseconds between the gateway and the operator, the robot, and this program. */
  | {
      readonly type: 'latency'
      readonly operator_ms: number | null
      readonly robot_ms: number | null
      readonly own_ms: number | null
    }
  | { readonly type: 'typing'; readonly name: string }
  | { readonly type: 'stop'; readonly state: 'pressed' | 'recorded' }
  | { readonly type: 'problem'; readonly message: string }
  | { readonly type: 'end'; readonly reason: string }

/** Returns whether a session of this status is over. */
export function isOver(status: unknown): boolean {
  return status === 'COMPLETED' || status === 'CANCELLED'
}

/** Returns whether a session of this status is open, so that participants can watch and stop its robot. */
export function isOpen(status: unknown): boolean {
  return status === 'ACTIVE' || status === 'PAUSED'
}
