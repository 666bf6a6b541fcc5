import type { BinaryHeader, Control, RobotSession, Stop, Welcome } from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import type { ConnectionState, LinkEnd, LinkPhase } from './connection-lifecycle.ts'
import type { WebSocketConstructor } from './link-socket.ts'

/** What `onConnection` reports. */
export type RobotConnectionState = ConnectionState
/** `RobotLink.state`. */
export type RobotLinkState = LinkPhase
/** What `onClosed` reports. */
export type RobotLinkEnd = LinkEnd

/** The stop under which a robot stands. */
export type StopInForce = Pick<Stop, 'reason' | 'latched'>

/** Who the robot is, and what it does on orders. */
export interface RobotLinkOptions {
  /** `control_url` of the robot. */
  readonly url: string
  /** The robot token, shown once at registration. */
  readonly token: string
  /** Fields to add to every heartbeat, such as `battery` (0 to 1). */
  readonly heartbeat?: () => Record<string, unknown>
  /** How long to wait between attempts. Default: up to 250 ms at first, up to 10 s later. */
  readonly reconnect?: BackoffOptions
  /** From dialling to the welcome, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Above this many unsent bytes, telemetry, acks and log lines are dropped. Default 256 kB. */
  readonly maxBufferedBytes?: number
  /**
   * How much longer than the welcome's `deadman_ms` a robot that moves waits for the next control frame before it
   * stops by itself, in milliseconds. Default 250: the gateway's own stop should come first.
   */
  readonly watchdogMarginMs?: number
  /** How much later than its `ttl_ms` allows a control frame may come, in milliseconds. Default 100. */
  readonly lateAllowanceMs?: number
  /** Default: the one of `ws`. */
  readonly WebSocket?: WebSocketConstructor

  /** The gateway has let this robot in; once for every connection. */
  readonly onWelcome?: (welcome: Welcome) => void
  /** The session of the welcome (null: none is open), then every change of it. */
  readonly onSession?: (session: RobotSession | null) => void
  /** Drive. Never called while a latched stop is in force, nor with a frame that is late. */
  readonly onControl?: (control: Control) => void
  /** The same for a binary control frame. Acknowledge `header.seq`; the payload is the operator's, as it came. */
  readonly onBinaryControl?: (payload: Uint8Array, header: BinaryHeader) => void
  /**
   * A control frame was not obeyed, because it came `ageMs` later than frames of this connection can: more than
   * its `ttl_ms` and `lateAllowanceMs` together. It has waited somewhere, and its order is of the past.
   */
  readonly onLateControl?: (seq: number, ageMs: number) => void
  /**
   * Stand still, then answer with `stopped`. Repeated by the gateway until that answer arrives. The link itself
   * stops a robot that moves with the reason `watchdog`, when control has fallen silent, and with `link_lost`, when
   * the connection ends; neither is latched: the next control frame moves it again.
   */
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
