import type { Control, RobotSession, Stop, Welcome } from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import type { WebSocketConstructor } from './robot-socket.ts'

/** What `onConnection` reports. */
export type RobotConnectionState = 'connecting' | 'online' | 'offline'
/** `idle` before `connect()`, `closed` after `close()` or after giving up. */
export type RobotLinkState = 'idle' | RobotConnectionState | 'closed'

/** Why a link ended for good. */
export interface RobotLinkEnd {
  readonly reason: string
  /** The close code that forbids coming back, if one did. */
  readonly closeCode?: number
  /** The status with which the upgrade was refused, if it was. */
  readonly httpStatus?: number
}

export type StopInForce = Pick<Stop, 'reason' | 'latched'>

export interface RobotLinkOptions {
  /** `control_url` of the robot. */
  readonly url: string
  /** The robot token, shown once at registration. */
  readonly token: string
  /** Fields to add to every heartbeat, such as `battery` (0 to 1). */
  readonly heartbeat?: () => Record<string, unknown>
  readonly reconnect?: BackoffOptions
  /** From dialling to the welcome, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Above this many unsent bytes, telemetry, acks and log lines are dropped. Default 256 kB. */
  readonly maxBufferedBytes?: number
  /** Default: the one of `ws`. */
  readonly WebSocket?: WebSocketConstructor

  readonly onWelcome?: (welcome: Welcome) => void
  /** The session of the welcome (null: none is open), then every change of it. */
  readonly onSession?: (session: RobotSession | null) => void
  /** Drive. Never called while a latched stop is in force. */
  readonly onControl?: (control: Control) => void
  /** Stand still, then answer with `stopped`. Repeated by the gateway until that answer arrives. */
  readonly onStop?: (stop: StopInForce) => void
  /** The latched stop is over; the robot still waits for the next control frame. */
  readonly onStopCleared?: () => void
  /** `closeCode` comes with `offline`. A robot brakes when it is offline. */
  readonly onConnection?: (state: RobotConnectionState, closeCode?: number) => void
  /** Bad frames, `error` frames of the gateway, and what the callbacks themselves throw. */
  readonly onError?: (cause: unknown) => void
  /** The link has given up or was closed; nothing comes after it. */
  readonly onClosed?: (end: RobotLinkEnd) => void
}
