import { z } from 'zod'
import {
  BooleanField,
  bounded,
  ChoiceField,
  compileCheck,
  declaresRequired,
  hasFewFields,
  hasRange,
  JSON_SCHEMA_DIALECT,
  MAX_SCHEMA_CHARS,
  NO_RANGE,
  notes,
  numberKeywords,
  objectKeywords,
  TOO_MANY,
  UNDECLARED,
} from './declared-fields.ts'
import { changeAt, MotionLimiter, REMOVED, valueAt } from './motion-limits.ts'

/** Largest control schema, in characters of its JSON text. */
export const MAX_CONTROL_SCHEMA_CHARS = MAX_SCHEMA_CHARS
/** Most items of an array in a control frame. */
const MAX_ITEMS = 64

const NumberField = z
  .strictObject({
    ...numberKeywords,
    /** Whether it is a speed, which the latency may limit. It needs bounds around 0. */
    'x-speed': z.boolean().optional(),
    /** How much it may change per second, in its unit: the slew rate of a joint, for example. */
    'x-max-rate': z.number().gt(0).optional(),
  })
  .refine(hasRange, NO_RANGE)
  .refine(
    ({ minimum, maximum, 'x-speed': isSpeed }) =>
      isSpeed !== true || (minimum !== undefined && maximum !== undefined && minimum <= 0 && maximum >= 0),
    'is a speed (x-speed), which needs a minimum up to 0 and a maximum from 0',
  )
  .refine(
    ({ type, 'x-max-rate': maxRate }) => type === 'number' || maxRate === undefined,
    'is an integer, which cannot have a rate (x-max-rate)',
  )
const SwitchField = BooleanField.extend({
  /** Whether it is a clutch: while it is not true, fields with `x-max-rate` in the same object and below it keep their values. */
  'x-clutch': z.boolean().optional(),
})
const ArrayField = z.strictObject({
  type: z.literal('array'),
  items: NumberField,
  minItems: z.number().int().min(0).max(MAX_ITEMS).optional(),
  maxItems: z.number().int().min(1).max(MAX_ITEMS),
  ...notes,
})
const leaves = [NumberField, SwitchField, ChoiceField, ArrayField] as const

const objectOf = <F extends z.ZodType>(field: F) =>
  z
    .strictObject(objectKeywords(field))
    .refine(declaresRequired, UNDECLARED)
    .refine(({ properties }) => clutchesOf(properties).length <= 1, 'has more than one clutch (x-clutch)')

/** Returns the names of the clutches among the fields of an object. */
const clutchesOf = (properties: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(properties)
    .filter(([, field]) => (field as { readonly 'x-clutch'?: boolean })['x-clutch'] === true)
    .map(([name]) => name)

const InnerObject = objectOf(z.union(leaves))
const OuterObject = objectOf(z.union([...leaves, InnerObject]))
const rootField = z.union([...leaves, OuterObject])
/** One field of a control schema. */
export type ControlField = z.infer<typeof rootField>

/**
 * The commands that a robot accepts: a bounded subset of JSON Schema 2020-12 with `x-unit`, `x-speed`, `x-max-rate` and `x-clutch`. It has no
 * `pattern`, no references and no combinators, so that a check takes time in proportion to the command.
 */
export const ControlSchema = bounded(
  objectOf(rootField)
    .safeExtend({ $schema: z.literal(JSON_SCHEMA_DIALECT).optional() })
    .refine(hasFewFields, TOO_MANY),
)
export type ControlSchema = z.infer<typeof ControlSchema>

/** A control schema that is ready to check commands. */
export interface ControlRules {
  /** Returns what is wrong with the data of a command; undefined if the schema allows it. */
  problemOf(data: unknown): string | undefined
  /**
   * Returns the data with its speeds clamped to `speedScale` times their bounds: the argument itself if nothing changes,
   * otherwise a copy. A speed that is no number is dropped.
   */
  clamp(data: unknown, speedScale: number): unknown
  /** Returns whether the data of a command contains a speed. */
  hasSpeeds(data: unknown): boolean
  /** Returns a limiter of the fields with a rate, for one connection of a robot; null if there are none. */
  createMotionLimiter(): MotionLimiter | null
}

/** Compiles a control schema. Call it once for each schema, not for each command. */
export function compileControlSchema(schema: ControlSchema): ControlRules {
  const numbers = [...numbersOf(schema.properties, [], [])]
  const speeds = numbers.filter(({ field }) => field['x-speed'] === true)
  const limited = numbers.flatMap(({ path, field: { 'x-max-rate': maxRate }, clutches }) =>
    maxRate === undefined ? [] : [{ path, maxRate, clutches }],
  )
  return {
    problemOf: compileCheck(schema),
    clamp(data, speedScale) {
      let clamped = data
      for (const { path, field } of speeds)
        clamped = changeAt(clamped, path, (value) => clampSpeed(value, field, speedScale))
      return clamped
    },
    hasSpeeds: (data) => speeds.some(({ path }) => valueAt(data, path) !== undefined),
    createMotionLimiter: () => (limited.length > 0 ? new MotionLimiter(limited) : null),
  }
}

type NumberField = z.infer<typeof NumberField>
/** A number, or the numbers of an array, and the clutches of the objects around it. */
interface NumberPlace {
  readonly path: readonly string[]
  readonly field: NumberField
  readonly clutches: readonly (readonly string[])[]
}

function* numbersOf(
  properties: Readonly<Record<string, ControlField>>,
  above: readonly string[],
  clutchesAbove: readonly (readonly string[])[],
): Generator<NumberPlace> {
  const clutches = [...clutchesAbove, ...clutchesOf(properties).map((name) => [...above, name])]
  for (const [name, declared] of Object.entries(properties)) {
    const path = [...above, name]
    if (declared.type === 'object') yield* numbersOf(declared.properties, path, clutches)
    const field = declared.type === 'array' ? declared.items : declared
    if (field.type === 'number' || field.type === 'integer') yield { path, field, clutches }
  }
}

/** Clamps a speed, or an array of speeds. Removes one that is no number, and so cannot be clamped. */
function clampSpeed(value: unknown, { minimum = 0, maximum = 0 }: NumberField, speedScale: number): unknown {
  const clamp = (item: unknown) =>
    typeof item !== 'number' || Number.isNaN(item)
      ? REMOVED
      : Math.min(Math.max(item, minimum * speedScale), maximum * speedScale)
  if (!Array.isArray(value)) return clamp(value)
  const items = value.map(clamp)
  if (items.includes(REMOVED)) return REMOVED
  return items.every((item, index) => item === value[index]) ? value : items
}
