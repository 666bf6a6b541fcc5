import { z } from 'zod'
import { ControlEpoch, LeaseFrame } from './control-lease.ts'
import { ChannelAnswer, ChannelAvailable, ChannelOffer, ChannelRefused, Order } from './data-channel.ts'
import { SeenPictures } from './driving-frames.ts'
import { Episode, EpisodeAck } from './episodes.ts'
import { Autonomy, FrameName, GoalId, goalPose } from './goals.ts'
import { LOG_MESSAGE_MAX, RobotLogLevel } from './robot-log.ts'
import { LimitsFrame, SpeedLimits, SpeedScale } from './speed-limits.ts'
import { SessionStatus } from './status.ts'

/** Largest frame that either side may send, in bytes. */
export const MAX_FRAME_BYTES = 64 * 1024

const sequence = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const unixMs = z.number()

/**
 * A robot must send it every `heartbeat_interval_ms` and may add fields. The gateway accepts every heartbeat: it
 * clamps a battery that is out of range and ignores known fields of a wrong type.
 */
export const Heartbeat = z.looseObject({
  type: z.literal('heartbeat'),
  seq: sequence.optional(),
  /** Charge, 0 to 1. */
  battery: z.number().min(0).max(1).optional(),
})
export const Telemetry = z.looseObject({
  type: z.literal('telemetry'),
  data: z.unknown(),
  /** When the robot made the sample, by its clock, in milliseconds. */
  t: z.unknown().optional(),
})
export const ControlAck = z.looseObject({ type: z.literal('ack'), seq: sequence })
/** Reports that the robot is halted, and why. The robot may echo the reason of the stop, which may be a free text. */
export const Stopped = z.looseObject({ type: z.literal('stopped'), reason: z.string().max(500) })
/** A line of the robot's log. The gateway records a level that it does not know as `info`. */
export const RobotLog = z.looseObject({
  type: z.literal('log'),
  level: RobotLogLevel,
  message: z.string().max(LOG_MESSAGE_MAX),
})

/** Frames that a robot sends. The gateway ignores unknown types, so newer robots work with older gateways. */
export const RobotFrame = z.discriminatedUnion('type', [
  Heartbeat,
  Telemetry,
  ControlAck,
  Stopped,
  Episode,
  RobotLog,
  Autonomy,
  ChannelOffer,
])
export type RobotFrame = z.infer<typeof RobotFrame>
export const robotFrameTypes: ReadonlySet<string> = new Set([
  'heartbeat',
  'telemetry',
  'ack',
  'stopped',
  'episode',
  'log',
  'autonomy',
  'channel_offer',
])

/** The open session of a robot, as the gateway sends it to the robot. */
export const RobotSession = z.object({
  session_id: z.uuid(),
  status: SessionStatus,
  operator_name: z.string(),
  /** The commands that the platform has declared for the robot; without it none, or a schema of more than 24 KiB. */
  control_schema: z.record(z.string(), z.unknown()).optional(),
  /** The telemetry that the platform has declared for the robot; as above. */
  telemetry_schema: z.record(z.string(), z.unknown()).optional(),
})
export type RobotSession = z.infer<typeof RobotSession>

export const Welcome = z.looseObject({
  type: z.literal('welcome'),
  robot_id: z.uuid(),
  epoch: z.number().int(),
  heartbeat_interval_ms: z.number(),
  heartbeat_timeout_ms: z.number(),
  deadman_ms: z.number(),
  /** Where the robot publishes cameras: append `/` and the name of a camera (WHIP). Absent before version 0.2. */
  whip_url: z.string().optional(),
  session: RobotSession.nullable(),
  /** The stop in force. The robot must stay halted until `stop_cleared`. */
  stop: z.object({ reason: z.string(), latched: z.boolean() }).nullable(),
  /** The allowed speed of the open session. Without it, the speed is not limited. */
  limits: SpeedLimits.optional(),
})
export type Welcome = z.infer<typeof Welcome>

/** The answer to a heartbeat and to all earlier ones. */
export const HeartbeatAck = z.looseObject({
  type: z.literal('heartbeat_ack'),
  seq: sequence.nullable(),
  /** The gateway's clock. */
  t: unixMs,
})
export const SessionChanged = RobotSession.extend({
  type: z.literal('session'),
  order: Order.optional(),
}).loose()
export type SessionChanged = z.infer<typeof SessionChanged>
export const Control = z.looseObject({
  type: z.literal('control'),
  session_id: z.uuid(),
  seq: sequence,
  /** The epoch of the control lease; without it 1. The robot refuses commands of an epoch below that of the newest `lease`. */
  epoch: ControlEpoch.optional(),
  t: unixMs,
  ttl_ms: z.number(),
  /** The speed scale that operator and gateway have applied to the speeds in `data`; 1 without it. */
  speed_scale: SpeedScale.optional(),
  /** The pictures by which the operator drives, if its program reports them. */
  seen: SeenPictures.optional(),
  order: Order.optional(),
  /** The order of the newest `session` frame. The robot ignores a command that arrives before that frame. */
  after: Order.optional(),
  data: z.unknown(),
})
export type Control = z.infer<typeof Control>
/** A goal, as the robot receives it. Robots that do not report `autonomy` receive none. */
export const Goal = z.looseObject({
  type: z.literal('goal'),
  session_id: z.uuid(),
  seq: sequence,
  /** As in `control`. */
  epoch: ControlEpoch.optional(),
  t: unixMs,
  ttl_ms: z.number(),
  goal_id: GoalId,
  frame: FrameName,
  ...goalPose,
  order: Order.optional(),
})
export type Goal = z.infer<typeof Goal>
/** The robot gives up this goal, and halts. */
export const CancelGoal = z.looseObject({
  type: z.literal('cancel_goal'),
  goal_id: GoalId,
  order: Order.optional(),
})
export const Stop = z.looseObject({
  type: z.literal('stop'),
  reason: z.string(),
  latched: z.boolean(),
  order: Order.optional(),
})
export type Stop = z.infer<typeof Stop>
export const StopCleared = z.looseObject({ type: z.literal('stop_cleared'), order: Order.optional() })
export const ErrorFrame = z.looseObject({
  type: z.literal('error'),
  message: z.string(),
  /** The episode that the platform did not accept. */
  episode_id: z.string().optional(),
  /** How long to wait before sending the episode again. Without it, do not send the episode again. */
  retry_after_ms: z.number().optional(),
})
export type ErrorFrame = z.infer<typeof ErrorFrame>

/** Frames that a robot receives. */
export const ToRobotFrame = z.discriminatedUnion('type', [
  Welcome,
  HeartbeatAck,
  SessionChanged,
  Control,
  Goal,
  CancelGoal,
  LimitsFrame,
  LeaseFrame,
  Stop,
  StopCleared,
  EpisodeAck,
  ChannelAvailable,
  ChannelAnswer,
  ChannelRefused,
  ErrorFrame,
])
export type ToRobotFrame = z.infer<typeof ToRobotFrame>
