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

/** Largest control schema, in characters of its JSON text. */
export const MAX_CONTROL_SCHEMA_CHARS = MAX_SCHEMA_CHARS
/** Most items of an array in a control frame. */
const MAX_ITEMS = 64

const NumberField = z
  .strictObject({
    ...numberKeywords,
    /** Whether it is a speed, which the latency may limit. It needs bounds around 0. */
    'x-speed': z.boolean().optional(),
  })
  .refine(hasRange, NO_RANGE)
  .refine(
    ({ minimum, maximum, 'x-speed': isSpeed }) =>
      isSpeed !== true || (minimum !== undefined && maximum !== undefined && minimum <= 0 && maximum >= 0),
    'is a speed (x-speed), which needs a minimum up to 0 and a maximum from 0',
  )
const ArrayField = z.strictObject({
  type: z.literal('array'),
  items: NumberField,
  minItems: z.number().int().min(0).max(MAX_ITEMS).optional(),
  maxItems: z.number().int().min(1).max(MAX_ITEMS),
  ...notes,
})
const leaves = [NumberField, BooleanField, ChoiceField, ArrayField] as const

const objectOf = <F extends z.ZodType>(field: F) =>
  z.strictObject(objectKeywords(field)).refine(declaresRequired, UNDECLARED)

const InnerObject = objectOf(z.union(leaves))
const OuterObject = objectOf(z.union([...leaves, InnerObject]))
const rootField = z.union([...leaves, OuterObject])
/** One field of a control schema. */
export type ControlField = z.infer<typeof rootField>

/**
 * The commands that a robot accepts: a bounded subset of JSON Schema 2020-12 with `x-unit` and `x-speed`. It has no
 * `pattern`, no references and no combinators, so that a check takes time in proportion to the command.
 */
export const ControlSchema = bounded(
  objectOf(rootField)
    .safeExtend({ $schema: z.literal(JSON_SCHEMA_DIALECT).optional() })
    .refine(hasFewFields, TOO_MANY),
)
export type ControlSchema = z.infer<typeof ControlSchema>

/** The path and the bounds of a number, or of the numbers of an array, that is a speed. */
interface Speed {
  readonly path: readonly string[]
  readonly minimum: number
  readonly maximum: number
}

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
}

/** Compiles a control schema. Call it once for each schema, not for each command. */
export function compileControlSchema(schema: ControlSchema): ControlRules {
  const speeds = [...speedsOf(schema.properties, [])]
  return {
    problemOf: compileCheck(schema),
    clamp(data, speedScale) {
      let clamped = data
      for (const speed of speeds) clamped = clampAt(clamped, speed, 0, speedScale)
      return clamped
    },
    hasSpeeds: (data) => speeds.some(({ path }) => valueAt(data, path) !== undefined),
  }
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data
  for (const field of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined
    value = (value as Record<string, unknown>)[field]
  }
  return value
}

/** Stands for a speed that is no number, and so cannot be clamped. */
const UNREADABLE = Symbol('unreadable')

function* speedsOf(
  properties: Readonly<Record<string, ControlField>>,
  above: readonly string[],
): Generator<Speed> {
  for (const [field, declared] of Object.entries(properties)) {
    const path = [...above, field]
    if (declared.type === 'object') yield* speedsOf(declared.properties, path)
    const number = declared.type === 'array' ? declared.items : declared
    if (!('x-speed' in number) || number['x-speed'] !== true) continue
    yield { path, minimum: number.minimum ?? 0, maximum: number.maximum ?? 0 }
  }
}

function clampAt(value: unknown, speed: Speed, depth: number, speedScale: number): unknown {
  const field = speed.path[depth]
  if (field !== undefined) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return value
    const record = value as Record<string, unknown>
    const clamped = clampAt(record[field], speed, depth + 1, speedScale)
    if (clamped === record[field]) return value
    if (clamped !== UNREADABLE) return { ...record, [field]: clamped }
    const { [field]: _, ...others } = record
    return others
  }
  if (!Array.isArray(value)) return clampNumber(value, speed, speedScale)
  const items = value.map((item) => clampNumber(item, speed, speedScale))
  if (items.includes(UNREADABLE)) return UNREADABLE
  return items.every((item, index) => item === value[index]) ? value : items
}

function clampNumber(value: unknown, { minimum, maximum }: Speed, speedScale: number): unknown {
  if (typeof value !== 'number' || Number.isNaN(value)) return UNREADABLE
  return Math.min(Math.max(value, minimum * speedScale), maximum * speedScale)
}
