import { z } from 'zod'
import { CAMERA_NAME, MAX_CAMERAS } from './camera-name.ts'
import { LeaseFrame } from './control-lease.ts'
import { ChannelAnswer, ChannelAvailable, ChannelOffer, ChannelRefused } from './data-channel.ts'
import { Autonomy, FrameName, GoalId, goalPose } from './goals.ts'
import { RobotLogLevel } from './robot-log.ts'
import { LimitsFrame, SpeedScale } from './speed-limits.ts'
import { Role, SessionStatus, StopClear } from './status.ts'

const sequence = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** The sender's monotonic clock. The gateway measures how much later than usual a frame arrives by this clock. */
const clockMs = z.number()

/** Largest `ttl_ms` of a control frame, in milliseconds. */
export const MAX_TTL_MS = 65_535
/** Longest reason of a stop, in characters. */
export const MAX_STOP_REASON = 500

/** Why a control frame or a goal did not reach the robot. */
export const DropReason = z.enum([
  /** The robot is not connected. */
  'robot_offline',
  /** The session is not ACTIVE. */
  'session_paused',
  /** A stop is latched. */
  'stopped',
  /** The sender does not hold control, or control is changing hands. */
  'not_holder',
  /** The frame's `seq` is not above that of the last relayed frame. */
  'out_of_order',
  /** The frame is older than its `ttl_ms`. */
  'expired',
  /** Commands take longer than the robot's `latency_limit_ms`. */
  'latency',
  /** The operator's picture is older than the robot's `video_limit_ms`. */
  'video_stale',
  /** The robot is in strict mode, and its control schema does not allow the command. */
  'invalid',
  /** A newer frame replaced it while the robot did not read. */
  'robot_slow',
  /** The robot accepts no goals, or none in this coordinate frame. */
  'no_goals',
])
export type DropReason = z.infer<typeof DropReason>

/** How old the operator's picture is, in milliseconds; null for no picture, or one of unknown age. */
const videoAgeMs = z.number().min(0).nullable()

/**
 * The pictures by which the operator drives: of each camera, when its newest frame that is shown was captured, in Unix milliseconds of the
 * platform's clock, which the sender reports of its stream have.
 */
export const SeenPictures = z
  .record(z.string().regex(CAMERA_NAME), z.number().min(0))
  .refine((seen) => Object.keys(seen).length <= MAX_CAMERAS, `has at most ${MAX_CAMERAS} cameras`)
export type SeenPictures = z.infer<typeof SeenPictures>

/** A control frame of an operator. The gateway relays it, or answers `dropped` with the reason. */
export const DriveControl = z.looseObject({
  type: z.literal('control'),
  seq: sequence,
  t: clockMs,
  ttl_ms: z.number().int().min(1).max(MAX_TTL_MS).optional(),
  /** The speed scale that the operator has applied to the speeds in `data`; 1 without it. */
  speed_scale: SpeedScale.optional(),
  /** Without it, the last report of the connection counts, and the time since. */
  video_age_ms: videoAgeMs.optional(),
  seen: SeenPictures.optional(),
  data: z.unknown(),
})
export type DriveControl = z.infer<typeof DriveControl>

/** A place to which the robot of the session is to drive by itself. The gateway relays it, or answers `dropped` with the reason. */
export const DriveGoal = z.looseObject({
  type: z.literal('goal'),
  /** Counts together with the `seq` of control frames. */
  seq: sequence,
  t: clockMs,
  ttl_ms: z.number().int().min(1).max(MAX_TTL_MS).optional(),
  goal_id: GoalId,
  frame: FrameName,
  ...goalPose,
})
export type DriveGoal = z.infer<typeof DriveGoal>
/** Cancels the goal that the robot drives to, if any. */
export const DriveCancelGoal = z.looseObject({ type: z.literal('cancel_goal') })

/** The age of the operator's picture beside binary control frames, which do not contain it. */
export const VideoAge = z.looseObject({ type: z.literal('video_age'), video_age_ms: videoAgeMs })

/** Halts the robot and latches the stop until a participant clears it. */
export const RequestStop = z.looseObject({
  type: z.literal('stop'),
  reason: z.string().max(MAX_STOP_REASON).optional(),
  /**
   * Number of the request on this connection. The copies of one request, over the WebSocket and over the data channel, have the same
   * number, and the gateway handles the first one to arrive.
   */
  n: sequence.optional(),
})
export const Ping = z.looseObject({ type: z.literal('ping'), t: clockMs })

/** Frames that an operator sends. The gateway ignores unknown types. */
export const OperatorFrame = z.discriminatedUnion('type', [
  DriveControl,
  DriveGoal,
  DriveCancelGoal,
  VideoAge,
  RequestStop,
  Ping,
  ChannelOffer,
])
export type OperatorFrame = z.infer<typeof OperatorFrame>
export const operatorFrameTypes: ReadonlySet<string> = new Set([
  'control',
  'goal',
  'cancel_goal',
  'video_age',
  'stop',
  'ping',
  'channel_offer',
])

/** Frames that an observer sends. */
export const ObserverFrame = z.discriminatedUnion('type', [RequestStop, Ping])
export type ObserverFrame = z.infer<typeof ObserverFrame>
export const observerFrameTypes: ReadonlySet<string> = new Set(['stop', 'ping'])

/** The stop in force. */
export const DriveStop = z.object({
  /** A `StopReason`, or the text of the participant who requested it. */
  reason: z.string(),
  /** A latched stop lasts until a participant clears it; any other ends with the next relayed control frame or goal. */
  latched: z.boolean(),
  /** The database has the stop, so it outlives this gateway. False only while the database is unavailable. */
  recorded: z.boolean(),
  /** Role of the participant who requested the stop first; null for the platform. Only for latched stops. */
  by_role: Role.nullable().optional(),
  /** The users who may clear the stop: `owner` is the owner or an admin, `anyone` also the operator. Only for latched stops. */
  clearable_by: StopClear.optional(),
})
export type DriveStop = z.infer<typeof DriveStop>

/** The state of the session. The gateway sends it first and after every change. */
export const DriveState = z.looseObject({
  type: z.literal('state'),
  status: SessionStatus,
  robot_connected: z.boolean(),
  stop: DriveStop.nullable(),
})
export type DriveState = z.infer<typeof DriveState>
/** A telemetry sample, as the robot sent it. */
export const DriveTelemetry = z.looseObject({ type: z.literal('telemetry'), data: z.unknown() })
/** The robot obeyed a control frame. */
export const DriveAck = z.looseObject({ type: z.literal('ack'), seq: sequence })
/** A control frame or a goal did not reach the robot. */
export const Dropped = z.looseObject({ type: z.literal('dropped'), seq: sequence, why: DropReason })
/** The latest round trips between the gateway and either side, in milliseconds; null while unknown. */
export const DriveLatency = z.looseObject({
  type: z.literal('latency'),
  operator_ms: z.number().nullable(),
  robot_ms: z.number().nullable(),
})
export type DriveLatency = z.infer<typeof DriveLatency>
export const Pong = z.looseObject({
  type: z.literal('pong'),
  /** The `t` of the ping, unchanged. */
  t: clockMs,
  /** The gateway's clock, Unix milliseconds. */
  server_t: z.number(),
})
/** A line of the robot's log. The gateway relays it on arrival. */
export const DriveLog = z.looseObject({
  type: z.literal('log'),
  level: RobotLogLevel,
  message: z.string(),
  /** Number of lines that this line replaces; above 0, the gateway wrote it. */
  dropped: z.number().int().min(0),
  /** When the gateway received it, Unix milliseconds. */
  at: z.number(),
})
export type DriveLog = z.infer<typeof DriveLog>
/** The charge of the robot. The gateway sends it after the first `state` and after every change. */
export const DriveBattery = z.looseObject({
  type: z.literal('battery'),
  /** 0 to 1. */
  battery: z.number(),
  /** When the gateway received it, Unix milliseconds. */
  at: z.number(),
})
export type DriveBattery = z.infer<typeof DriveBattery>
export const DriveError = z.looseObject({ type: z.literal('error'), message: z.string() })

/** Frames that operators and observers receive. Only operators receive `ack` and `dropped`. */
export const ToDriverFrame = z.discriminatedUnion('type', [
  DriveState,
  DriveTelemetry,
  DriveAck,
  Dropped,
  DriveLatency,
  LimitsFrame,
  LeaseFrame,
  Autonomy,
  DriveLog,
  DriveBattery,
  Pong,
  ChannelAvailable,
  ChannelAnswer,
  ChannelRefused,
  DriveError,
])
export type ToDriverFrame = z.infer<typeof ToDriverFrame>
