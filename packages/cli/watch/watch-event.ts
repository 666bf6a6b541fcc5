import type {
  DriveStop,
  RobotLogLevel,
  SessionLogEvent,
  SessionStatus,
  WatchedSession,
} from '@wheelhouse/protocol'

/** What watching a session tells, in the order in which it came. Times are this machine's but for `at` of the log. */
export type WatchEvent =
  /** The hub, which brings the log. While it is away nothing is lost: what was missed comes when it is back. */
  | { readonly type: 'hub'; readonly state: 'connected' | 'disconnected'; readonly reason?: string }
  /** The gateway, which brings state, telemetry and latency. */
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
  /** Charge of the robot, 0 to 1. */
  | { readonly type: 'battery'; readonly battery: number }
  /** Round trips in milliseconds: between the gateway and the operator, the robot, and here. */
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

/** Whether nothing more can happen in a session of this status but a rating. */
export function isOver(status: unknown): boolean {
  return status === 'COMPLETED' || status === 'CANCELLED'
}

/** Whether it holds its robot, which then can be watched and stopped. */
export function isOpen(status: unknown): boolean {
  return status === 'ACTIVE' || status === 'PAUSED'
}
