import type {
  AutonomyMode,
  BinaryHeader,
  Control,
  ControlSchema,
  GoalStatus,
  LeaseFrame,
  RobotSession,
  SpeedLimits,
  Stop,
  TelemetrySchema,
  Welcome,
} from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import type { ConnectionState, LinkEnd, LinkPhase } from './connection-lifecycle.ts'
import type { DeclaredSchema } from './declared-rules.ts'
import type { WebSocketConstructor } from './link-socket.ts'
import type { PeerConnectionConstructor } from './peer-connection.ts'

/** State that `onConnection` reports. */
export type RobotConnectionState = ConnectionState
/** `RobotLink.state`. */
export type RobotLinkState = LinkPhase
/** End that `onClosed` reports. */
export type RobotLinkEnd = LinkEnd

/** The stop that halts a robot. */
export type StopInForce = Pick<Stop, 'reason' | 'latched'>

/** A place to which the robot is to drive by itself: metres and radians, counter-clockwise from x, in the coordinate frame `frame`. */
export interface RobotGoal {
  readonly goalId: string
  readonly frame: string
  readonly x: number
  readonly y: number
  readonly heading: number
  /** Counts together with the `seq` of control frames. */
  readonly seq: number
}

/**
 * Why a robot gives up its goal: a command of the operator, a `cancel_goal`, a stop, a session that is not ACTIVE, another holder of
 * control, a lost connection, or a newer goal.
 */
export type GoalCancelReason =
  | 'control'
  | 'canceled'
  | 'stopped'
  | 'session_paused'
  | 'control_transferred'
  | 'link_lost'
  | 'replaced'

/** What a robot does by itself. */
export interface AutonomyReport {
  readonly mode: AutonomyMode
  /** The coordinate frame in which it accepts goals, that of the pose in its telemetry; without it, it accepts none. */
  readonly goalFrame?: string | null
  /** The present goal, or how the last one ended. */
  readonly goal?:
    | (Omit<RobotGoal, 'frame' | 'seq'> & {
        readonly status: GoalStatus
        /** Share of the way that is done, 0 to 1. */
        readonly progress?: number
        /** Distance to go, in metres. */
        readonly distanceM?: number
        /** For people. The link cuts it after 500 characters. */
        readonly message?: string
      })
    | null
}

/** Credentials, settings and callbacks of a robot. */
export interface RobotLinkOptions {
  /** `control_url` of the robot. */
  readonly url: string
  /** The robot token, which the platform shows once at registration. */
  readonly token: string
  /** Returns fields to add to every heartbeat, such as `battery` (0 to 1). */
  readonly heartbeat?: () => Record<string, unknown>
  /**
   * Delays between attempts. Default: up to 250 ms at first, up to 10 s later. During a session, the first 60 delays are at most a
   * second.
   */
  readonly reconnect?: BackoffOptions
  /** Timeout from dialling to the welcome, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Above this many unsent bytes, the link drops telemetry, acks and log lines. Default 256 kB. */
  readonly maxBufferedBytes?: number
  /**
   * A moving robot stops by itself when it receives no control frame for the welcome's `deadman_ms` plus this margin,
   * in milliseconds. Default 250, so that the gateway's own stop arrives first.
   */
  readonly watchdogMarginMs?: number
  /** Tolerance beyond a control frame's `ttl_ms`, in milliseconds. Default 0. */
  readonly lateAllowanceMs?: number
  /**
   * The commands that this robot accepts; `platform` for those that the platform has declared for it, if any. The link
   * refuses all other JSON commands. It clamps the speeds (`x-speed`) of those that it passes to the allowed share of
   * their bounds, lets no value change faster than its rate (`x-max-rate`), and holds values while their clutch is released (`x-clutch`).
   */
  readonly controlSchema?: DeclaredSchema<ControlSchema>
  /**
   * Returns the present positions of the robot, in the form of a command. Called when a command follows a halt: its values then move
   * away from these positions no faster than their rates. Default: from those of the last command.
   */
  readonly measured?: () => unknown
  /**
   * The telemetry that this robot sends; `platform` for the one that the platform has declared for it, if any. The link
   * does not send any other sample.
   */
  readonly telemetrySchema?: DeclaredSchema<TelemetrySchema>
  /** Default: the WebSocket of `ws`. */
  readonly WebSocket?: WebSocketConstructor
  /**
   * The constructor of WebRTC connections, for the data channel; null to use the WebSocket only. Default: that of the optional package
   * `node-datachannel`.
   */
  readonly PeerConnection?: PeerConnectionConstructor | null

  /** Called once for every connection, when the gateway has admitted this robot. */
  readonly onWelcome?: (welcome: Welcome) => void
  /** Called with the session of the welcome (null without an open one), then on every change. */
  readonly onSession?: (session: RobotSession | null) => void
  /**
   * Called for a control frame to obey, slowed down to the allowed speed. Never called during a latched stop or with a
   * late frame.
   */
  readonly onControl?: (control: Control) => void
  /**
   * Called for a binary control frame to obey. Acknowledge `header.seq`. The payload is unchanged: clamp its speeds to
   * `limits.speed_scale` of the link times your maximum.
   */
  readonly onBinaryControl?: (payload: Uint8Array, header: BinaryHeader) => void
  /**
   * Called for a goal to drive to, at once; never for one that must not be obeyed, as one that is late. Keep the robot's speed below
   * `limits.speed_scale` of the link times its maximum, and tell with `autonomy` how it goes. Robots that have not named a `goalFrame`
   * receive none. It needs `onGoalCanceled`.
   */
  readonly onGoal?: (goal: RobotGoal) => void
  /** Called when the robot must give up its goal, and halt unless a command or a newer goal follows. Not after it has reported the end. */
  readonly onGoalCanceled?: (goalId: string, reason: GoalCancelReason) => void
  /**
   * Called for a late control frame or goal, which the robot must not obey: its age `ageMs` exceeds its `ttl_ms` plus
   * `lateAllowanceMs`. The frame has waited in a buffer, so its command is stale.
   */
  readonly onLateControl?: (seq: number, ageMs: number) => void
  /**
   * Called for a control frame that `controlSchema` does not allow, with the reason. The robot does not obey it; a moving
   * robot gets a stop with the reason `invalid_command`, which is not latched.
   */
  readonly onInvalidControl?: (seq: number, problem: string) => void
  /** Called for a telemetry sample that `telemetrySchema` does not allow, with the reason. The link does not send it. */
  readonly onInvalidTelemetry?: (problem: string) => void
  /** Called when the allowed speed changes, `speed_scale` above 0 and up to 1. `limits` of the link has it, too. */
  readonly onLimits?: (limits: SpeedLimits) => void
  /** Receives who controls the robot, after control has changed hands. The robot has halted by then. */
  readonly onLease?: (lease: Pick<LeaseFrame, 'epoch' | 'holder'>) => void
  /**
   * Called for a stop. Halt the robot, then answer with `stopped`; the gateway repeats the stop until it receives this
   * answer. The link itself stops a moving robot with the reason `watchdog`, when control frames stop arriving, with
   * `link_lost`, when the connection ends, and with `invalid_command` for a control frame that it cannot read. None is
   * latched: the robot obeys the next control frame.
   */
  readonly onStop?: (stop: StopInForce) => void
  /** Called when a latched stop is cleared. The robot stays halted until the next control frame. */
  readonly onStopCleared?: () => void
  /** Called on every change of the connection. Only `offline` has a `closeCode`. Brake when offline. */
  readonly onConnection?: (state: RobotConnectionState, closeCode?: number) => void
  /** Called for malformed frames, `error` frames of the gateway, and errors that callbacks throw. */
  readonly onError?: (cause: unknown) => void
  /** Called once, last: the link has given up or was closed. */
  readonly onClosed?: (end: RobotLinkEnd) => void
}
