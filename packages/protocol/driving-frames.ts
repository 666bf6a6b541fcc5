import { z } from 'zod'
import { RobotLogLevel } from './robot-log.ts'
import { Role, SessionStatus, StopClear } from './status.ts'

const sequence = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
/** The sender's clock. It must not jump: what counts is how much later than usual a frame arrives by it. */
const clockMs = z.number()

/** Longest time for which a control frame may claim to be good, in milliseconds. */
export const MAX_TTL_MS = 65_535
/** Longest reason of a stop, in characters. */
export const MAX_STOP_REASON = 500

/** Why a control frame did not reach the robot. */
export const DropReason = z.enum([
  /** The robot is not connected. */
  'robot_offline',
  /** The session is not ACTIVE. */
  'session_paused',
  /** A stop is latched. */
  'stopped',
  /** Its `seq` is not above the last one that passed. */
  'out_of_order',
  /** It is older than its `ttl_ms`. */
  'expired',
  /** Commands take longer than the robot's `latency_limit_ms`. */
  'latency',
  /** A newer one overtook it while the robot was not reading. */
  'robot_slow',
])
export type DropReason = z.infer<typeof DropReason>

/** Drive. The gateway passes it on, or says why not with `dropped`. */
export const DriveControl = z.looseObject({
  type: z.literal('control'),
  seq: sequence,
  t: clockMs,
  ttl_ms: z.number().int().min(1).max(MAX_TTL_MS).optional(),
  data: z.unknown(),
})
export type DriveControl = z.infer<typeof DriveControl>

/** Stop the robot and keep it stopped until somebody clears the stop. */
export const RequestStop = z.looseObject({
  type: z.literal('stop'),
  reason: z.string().max(MAX_STOP_REASON).optional(),
})
export const Ping = z.looseObject({ type: z.literal('ping'), t: clockMs })

/** Frames an operator sends. Unknown types are ignored. */
export const OperatorFrame = z.discriminatedUnion('type', [DriveControl, RequestStop, Ping])
export type OperatorFrame = z.infer<typeof OperatorFrame>
export const operatorFrameTypes: ReadonlySet<string> = new Set(['control', 'stop', 'ping'])

/** Frames a watcher sends. */
export const ObserverFrame = z.discriminatedUnion('type', [RequestStop, Ping])
export type ObserverFrame = z.infer<typeof ObserverFrame>
export const observerFrameTypes: ReadonlySet<string> = new Set(['stop', 'ping'])

/** The stop that the robot stands under. */
export const DriveStop = z.object({
  /** `deadman`, `operator_lost`, `latency`, `session_paused`, or what the person who pressed it said. */
  reason: z.string(),
  /** It stays until it is cleared. One that is not latched ends with the next control frame that passes. */
  latched: z.boolean(),
  /** It is in the database, so that it outlives this gateway. False only while the database is away. */
  recorded: z.boolean(),
  /** In which part its first requester did so; of latched stops only, null when the platform did. */
  by_role: Role.nullable().optional(),
  /** Who may clear it: `owner` is the owner or an admin, `anyone` the operator too. Of latched stops only. */
  clearable_by: StopClear.optional(),
})
export type DriveStop = z.infer<typeof DriveStop>

/** Sent first, and whenever something of it has changed. */
export const DriveState = z.looseObject({
  type: z.literal('state'),
  status: SessionStatus,
  robot_connected: z.boolean(),
  stop: DriveStop.nullable(),
})
export type DriveState = z.infer<typeof DriveState>
/** What the robot sent, as it sent it. */
export const DriveTelemetry = z.looseObject({ type: z.literal('telemetry'), data: z.unknown() })
/** The robot obeyed a control frame. */
export const DriveAck = z.looseObject({ type: z.literal('ack'), seq: sequence })
/** A control frame did not reach the robot. */
export const Dropped = z.looseObject({ type: z.literal('dropped'), seq: sequence, why: DropReason })
/** Round trips between this gateway and either side as measured last, in milliseconds; null while unknown. */
export const DriveLatency = z.looseObject({
  type: z.literal('latency'),
  operator_ms: z.number().nullable(),
  robot_ms: z.number().nullable(),
})
export type DriveLatency = z.infer<typeof DriveLatency>
export const Pong = z.looseObject({
  type: z.literal('pong'),
  /** Of the ping, unchanged. */
  t: clockMs,
  /** The gateway's clock, Unix milliseconds. */
  server_t: z.number(),
})
/** A line of the robot's log, as soon as it has arrived at the gateway. */
export const DriveLog = z.looseObject({
  type: z.literal('log'),
  level: RobotLogLevel,
  message: z.string(),
  /** How many lines are missing here: above 0 the gateway wrote this line in place of those. */
  dropped: z.number().int().min(0),
  /** When the gateway received it, Unix milliseconds. */
  at: z.number(),
})
export type DriveLog = z.infer<typeof DriveLog>
/** The charge of the robot: first after `state`, and when it has changed. */
export const DriveBattery = z.looseObject({
  type: z.literal('battery'),
  /** 0 to 1. */
  battery: z.number(),
  /** When the gateway received it, Unix milliseconds. */
  at: z.number(),
})
export type DriveBattery = z.infer<typeof DriveBattery>
export const DriveError = z.looseObject({ type: z.literal('error'), message: z.string() })

/** Frames operators and watchers receive. `ack` and `dropped` are for the operator alone. */
export const ToDriverFrame = z.discriminatedUnion('type', [
  DriveState,
  DriveTelemetry,
  DriveAck,
  Dropped,
  DriveLatency,
  DriveLog,
  DriveBattery,
  Pong,
  DriveError,
])
export type ToDriverFrame = z.infer<typeof ToDriverFrame>
