import { z } from 'zod'

// Goals: places to which a robot drives by itself, beside the operator who drives it directly. A robot reports what it is doing in
// `autonomy`; the operator sends `goal`.

/** Longest name of a coordinate frame, in characters. */
const MAX_FRAME_NAME = 100
/** Longest id of a goal, in characters. */
const MAX_GOAL_ID = 64
/** Longest message about a goal, in characters. */
export const GOAL_MESSAGE_MAX = 500

const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u

/** Names a goal: visible characters and spaces, chosen by its sender. */
export const GoalId = z.string().max(MAX_GOAL_ID).regex(PRINTABLE, 'must be printable characters')
/** Names a coordinate frame of the robot, such as `map` or `odom`. */
export const FrameName = z.string().max(MAX_FRAME_NAME).regex(PRINTABLE, 'must be printable characters')

const metres = z.number()
/** Counter-clockwise from the x axis. */
const radians = z.number()

/** Where a robot is to be: metres and radians in a coordinate frame. */
export const goalPose = { x: metres, y: metres, heading: radians } as const

/** Whether a person drives the robot, the robot drives itself, or it helps a person who drives. */
export const AutonomyMode = z.enum(['manual', 'autonomous', 'assisted'])
export type AutonomyMode = z.infer<typeof AutonomyMode>

export const GoalStatus = z.enum(['active', 'reached', 'failed', 'canceled'])
export type GoalStatus = z.infer<typeof GoalStatus>

/** The present goal of a robot, or how its last one ended. */
export const GoalState = z.object({
  goal_id: GoalId,
  status: GoalStatus,
  ...goalPose,
  /** Share of the way that is done, 0 to 1. */
  progress: z.number().min(0).max(1).optional(),
  /** Distance to go. */
  distance_m: z.number().min(0).optional(),
  message: z.string().max(GOAL_MESSAGE_MAX).optional(),
})
export type GoalState = z.infer<typeof GoalState>

/**
 * What the robot does by itself. The robot sends it after each welcome and with each change, and always whole; participants receive it
 * with these fields.
 */
export const Autonomy = z.object({
  type: z.literal('autonomy'),
  mode: AutonomyMode,
  /** The coordinate frame in which the robot accepts goals, that of its telemetry `pose`. Missing or null: it accepts none. */
  goal_frame: FrameName.nullable().optional(),
  goal: GoalState.nullable().optional(),
})
export type Autonomy = z.infer<typeof Autonomy>
