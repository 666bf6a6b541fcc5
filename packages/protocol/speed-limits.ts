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
  /** `latency`, `picture_age` or `latency_unknown`; null while `speed_scale` is 1. Later versions may send other reasons. */
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

interface ScaledData {
  readonly data: unknown
  /** Whether the command has speeds, and all of them were multiplied or dropped. */
  readonly isComplete: boolean
}

/** Multiplies the speeds of a command by `factor`, never in place. Drops those that cannot be read, or lets them pass. */
function scaleSpeeds(data: unknown, factor: number, dropsUnreadable: boolean): ScaledData {
  if (!isRecord(data)) return { data, isComplete: false }
  const fields = SPEED_FIELDS.filter((field) => Object.hasOwn(data, field))
  if (fields.length === 0) return { data, isComplete: false }
  const scaled: Record<string, unknown> = { ...data }
  let isComplete = true
  for (const field of fields) {
    const { value, isRead } = scaleSpeed(data[field], factor)
    if (isRead || !dropsUnreadable) scaled[field] = value
    else delete scaled[field]
    isComplete &&= isRead || dropsUnreadable
  }
  return { data: scaled, isComplete }
}

/** Multiplies the numbers of a speed by `factor`. `isRead` is false if it has anything else. */
function scaleSpeed(value: unknown, factor: number): { readonly value: unknown; readonly isRead: boolean } {
  const scaled = (item: unknown) => (isFiniteNumber(item) ? item * factor : item)
  if (Array.isArray(value)) {
    if (value.length > MAX_VECTOR) return { value, isRead: false }
    return { value: value.map(scaled), isRead: value.every(isFiniteNumber) }
  }
  if (!isRecord(value)) return { value: scaled(value), isRead: isFiniteNumber(value) }
  const components = Object.entries(value)
  return {
    value: Object.fromEntries(
      components.map(([name, component]) => [name, isVectorField(name) ? scaled(component) : component]),
    ),
    isRead: components.every(([name, component]) => isVectorField(name) && isFiniteNumber(component)),
  }
}

const isVectorField = (name: string) => VECTOR_FIELDS.some((field) => field === name)

/** A command and the speed scale that is already applied to it; 1 without one. */
export interface ScaledCommand {
  readonly data: unknown
  readonly speed_scale?: number | undefined
}

/**
 * Returns the command slowed down to `speedScale`. With the rules of a control schema, clamps its speeds, whatever the
 * command declares. Without them, multiplies only by the part that no earlier party has applied, so that operator,
 * gateway and robot together never apply a scale twice. Returns the same object if nothing remains to be done, and declares
 * the scale only for a command whose speeds were all read.
 * @param rules null for a robot without a control schema: speeds that cannot be read are dropped. Undefined if that is unknown:
 *   they pass, because the schema may declare them
 */
export function limitSpeed<C extends ScaledCommand>(
  command: C,
  speedScale: number,
  rules?: ControlRules | null,
): C {
  const applied = command.speed_scale ?? 1
  if (rules && speedScale < 1) {
    const data = rules.clamp(command.data, speedScale)
    if (data === command.data && (applied <= speedScale || !rules.hasSpeeds(data))) return command
    return { ...command, speed_scale: Math.min(applied, speedScale), data }
  }
  if (applied <= speedScale) return command
  const { data, isComplete } = scaleSpeeds(command.data, speedScale / applied, rules === null)
  if (data === command.data) return command
  return { ...command, ...(isComplete && { speed_scale: speedScale }), data }
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
