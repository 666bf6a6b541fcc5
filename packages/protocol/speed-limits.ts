import { z } from 'zod'
import type { ControlRules } from './control-schema.ts'
import { Order } from './data-channel.ts'

/** The lowest speed scale. The robot creeps, so that its operator can still move it out of the way. */
export const MIN_SPEED_SCALE = 0.05

/** The share of a robot's speed that is allowed at present, above 0 and up to 1. */
export const SpeedScale = z.number().gt(0).max(1)

/** The speed that is allowed at present. */
export const SpeedLimits = z.object({
  speed_scale: SpeedScale,
  /** `latency` or `latency_unknown`; null while `speed_scale` is 1. Later versions may send other reasons. */
  reason: z.string().nullable(),
})
export type SpeedLimits = z.infer<typeof SpeedLimits>

/** The limits of a robot that may drive at full speed. */
export const FULL_SPEED: SpeedLimits = { speed_scale: 1, reason: null }

/** The gateway sends it to the robot and the participants when the allowed speed changes. */
export const LimitsFrame = SpeedLimits.extend({
  type: z.literal('limits'),
  order: Order.optional(),
  after: Order.optional(),
}).loose()
export type LimitsFrame = z.infer<typeof LimitsFrame>

/** The speeds of a command without a control schema. Each is a number, `{x, y, z}`, or an array of up to three numbers. */
const SPEED_FIELDS = ['linear_mps', 'angular_radps', 'linear', 'angular'] as const
/** Returns whether a field of a command contains speeds by its name, in commands without a control schema. */
export const isSpeedField = (name: string | number | undefined): boolean =>
  SPEED_FIELDS.some((field) => field === name)
const VECTOR_FIELDS = ['x', 'y', 'z'] as const
const MAX_VECTOR = 3

/**
 * Returns the data of a command with its speeds multiplied by `factor`. Data without speeds is returned unchanged, and
 * the argument is never modified.
 */
export function scaleSpeeds(data: unknown, factor: number): unknown {
  if (!isRecord(data)) return data
  const scaled: Record<string, unknown> = { ...data }
  for (const field of SPEED_FIELDS)
    if (Object.hasOwn(data, field)) scaled[field] = scaleSpeed(data[field], factor)
  return scaled
}

function scaleSpeed(value: unknown, factor: number): unknown {
  if (typeof value === 'number') return value * factor
  if (Array.isArray(value)) {
    const isVector = value.length <= MAX_VECTOR
    return isVector ? value.map((item) => (typeof item === 'number' ? item * factor : item)) : value
  }
  if (!isRecord(value)) return value
  const scaled: Record<string, unknown> = { ...value }
  for (const field of VECTOR_FIELDS) {
    const component = value[field]
    if (Object.hasOwn(value, field) && typeof component === 'number') scaled[field] = component * factor
  }
  return scaled
}

/** A command and the speed scale that is already applied to it; 1 without one. */
export interface ScaledCommand {
  readonly data: unknown
  readonly speed_scale?: number | undefined
}

/**
 * Returns the command slowed down to `speedScale`. With the rules of a control schema, clamps its speeds, whatever the
 * command declares. Without them, multiplies only by the part that no earlier party has applied, so that operator,
 * gateway and robot together never apply a scale twice. Returns the same object if nothing remains to be done.
 */
export function limitSpeed<C extends ScaledCommand>(
  command: C,
  speedScale: number,
  rules?: ControlRules | null,
): C {
  const applied = command.speed_scale ?? 1
  if (rules && speedScale < 1) {
    const data = rules.clamp(command.data, speedScale)
    if (data === command.data && applied <= speedScale) return command
    return { ...command, speed_scale: Math.min(applied, speedScale), data }
  }
  if (applied <= speedScale) return command
  return { ...command, speed_scale: speedScale, data: scaleSpeeds(command.data, speedScale / applied) }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
