import type {
  Autonomy,
  BinaryHeader,
  DriveBattery,
  DriveLatency,
  DriveLog,
  DriveState,
  DropReason,
  LeaseFrame,
  SpeedLimits,
} from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import type { Congestion } from './congestion.ts'
import type { ConnectionLifecycleCallbacks } from './connection-lifecycle.ts'
import type { StandardWebSocketConstructor } from './link-socket.ts'
import type { PeerConnectionConstructor } from './peer-connection.ts'
import type { GetTicket } from './tickets.ts'
import type { SampleVideoAge } from './video-age.ts'

/** Common options of the links of operators and observers. */
export interface SessionLinkOptions extends ConnectionLifecycleCallbacks {
  /** Returns a fresh ticket for every connection; `ticketsOf` requests it from the REST API. */
  readonly getTicket: GetTicket
  /** Delays between attempts. Default: up to 250 ms at first, up to 10 s later. */
  readonly reconnect?: BackoffOptions
  /** Timeouts of the ticket, and from dialling to the first state, in milliseconds. Default 10,000 each. */
  readonly connectTimeoutMs?: number
  /** Without a frame for this time, the link replaces the connection. Milliseconds, default 5,000. */
  readonly silenceMs?: number
  /**
   * Time between the pings of the link, in milliseconds, default 1,000. A shorter one shows a lost connection sooner in
   * `silentMs`.
   */
  readonly pingMs?: number
  /** How long the link retries while the platform refuses tickets because the robot is offline. Default five minutes. */
  readonly offlinePatienceMs?: number
  /** Above this many unsent bytes, the link drops control frames and pings. Default 16 kB. */
  readonly maxBufferedBytes?: number
  /** Default: the WebSocket of `ws`; in browsers, their own. */
  readonly WebSocket?: StandardWebSocketConstructor
  /**
   * The constructor of WebRTC connections, for the data channel of an operator; null to use the WebSocket only. Default: that of
   * browsers, and in Node that of the optional package `node-datachannel`.
   */
  readonly PeerConnection?: PeerConnectionConstructor | null

  /** Called with the first state and after every change. */
  readonly onState?: (state: DriveState) => void
  /** Called for a telemetry sample. The gateway drops samples for a slow reader. */
  readonly onTelemetry?: (data: unknown) => void
  /** Called for a binary telemetry sample. */
  readonly onBinaryTelemetry?: (payload: Uint8Array, header: BinaryHeader) => void
  /** Called once a second with the round trips that the gateway measures. See `latency` for the link's own. */
  readonly onLatency?: (latency: DriveLatency) => void
  /** Called when the allowed speed of the robot changes. `OperatorLink` applies it to the commands. */
  readonly onLimits?: (limits: SpeedLimits) => void
  /** Receives who controls the robot, when that changes, or is not this participant. */
  readonly onLease?: (lease: LeaseFrame) => void
  /** Called with what the robot does by itself, and how its goal goes: after the first state if the robot reports it, then with each change. */
  readonly onAutonomy?: (autonomy: Autonomy) => void
  /** Called for a line of the robot's log. The gateway drops lines for a slow reader. */
  readonly onLog?: (line: DriveLog) => void
  /** Called with the charge of the robot, after the first state and after every change. */
  readonly onBattery?: (battery: DriveBattery) => void
}

/** Options and callbacks of an `ObserverLink`. */
export type ObserverLinkOptions = SessionLinkOptions

/** Options and callbacks of an `OperatorLink`. */
export interface OperatorLinkOptions extends SessionLinkOptions {
  /**
   * The lowest rate to which the link limits its commands on a congested connection, in commands per second. Default 20,
   * five within the default deadman of the platform (250 ms). Choose at least four within the deadman.
   */
  readonly minRateHz?: number
  /**
   * Returns how old the picture is that the operator sees, in milliseconds: the time since the last new frame was shown. Null
   * if that is unknown, undefined without a camera. The link reports it with the commands, and the gateway rejects commands
   * (`video_stale`) whose picture is older than the robot's `video_limit_ms`, or of unknown age. Default: no report.
   */
  readonly videoAgeMs?: SampleVideoAge
  /**
   * Returns the pictures that the operator sees: of each camera, when the newest frame that is shown was captured, in Unix milliseconds of
   * this computer's monotonic clock (`performance.timeOrigin + performance.now()`). The link converts the times to the platform's
   * clock, and reports them with the commands: recordings and datasets then know which picture a command answers. Default: no report.
   */
  readonly seenPictures?: () => Readonly<Record<string, number>>
  /** Called when the robot obeyed a control frame. `roundTripMs` is null when too many later frames are unanswered. */
  readonly onAck?: (seq: number, roundTripMs: number | null) => void
  /** Called when a control frame or a goal did not reach the robot. */
  readonly onDropped?: (seq: number, why: DropReason) => void
  /** Called when the connection becomes congested or recovers, and when the link changes the limit of its rate. */
  readonly onCongestion?: (congestion: Congestion) => void
}
