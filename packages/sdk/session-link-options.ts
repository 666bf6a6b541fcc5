import type {
  BinaryHeader,
  DriveBattery,
  DriveLatency,
  DriveLog,
  DriveState,
  DropReason,
} from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import type { ConnectionLifecycleCallbacks } from './connection-lifecycle.ts'
import type { StandardWebSocketConstructor } from './link-socket.ts'
import type { GetTicket } from './tickets.ts'

/** What the links of operators and of watchers have in common. */
export interface SessionLinkOptions extends ConnectionLifecycleCallbacks {
  /** Gets a fresh ticket before every connection; `ticketsOf` asks the REST API. */
  readonly getTicket: GetTicket
  /** How long to wait between attempts. Default: up to 250 ms at first, up to 10 s later. */
  readonly reconnect?: BackoffOptions
  /** For the ticket, and from dialling to the first state, in milliseconds. Default 10,000 each. */
  readonly connectTimeoutMs?: number
  /** When nothing has come for so long, the connection is dead and is made anew. Default 5,000. */
  readonly silenceMs?: number
  /** How long it is put up with that there is no ticket because the robot is offline. Default five minutes. */
  readonly offlinePatienceMs?: number
  /** Above this many unsent bytes, control frames and pings are dropped. Default 16 kB. */
  readonly maxBufferedBytes?: number
  /** Default: the one of `ws`; in browsers, their own. */
  readonly WebSocket?: StandardWebSocketConstructor

  /** First, and whenever something of it has changed. */
  readonly onState?: (state: DriveState) => void
  /** A sample of the robot's; samples that this side was too slow for are left out. */
  readonly onTelemetry?: (data: unknown) => void
  /** The same for opaque bytes. */
  readonly onBinaryTelemetry?: (payload: Uint8Array, header: BinaryHeader) => void
  /** Once a second: the round trips that the gateway measures. See `latency` for this link's own. */
  readonly onLatency?: (latency: DriveLatency) => void
  /** A line of the robot's log; lines that this side was too slow for are left out. */
  readonly onLog?: (line: DriveLog) => void
  /** The charge of the robot, first after the state and when it has changed; see `battery` of the link. */
  readonly onBattery?: (battery: DriveBattery) => void
}

/** What a `WatcherLink` needs and tells. */
export type ObserverLinkOptions = SessionLinkOptions

/** What an `OperatorLink` needs and tells. */
export interface OperatorLinkOptions extends SessionLinkOptions {
  /** The robot obeyed a control frame; null when so many were under way that it was no longer timed. */
  readonly onAck?: (seq: number, roundTripMs: number | null) => void
  /** A control frame did not reach the robot. */
  readonly onDropped?: (seq: number, why: DropReason) => void
}
