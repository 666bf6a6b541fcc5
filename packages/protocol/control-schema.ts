import { z } from 'zod'

export const JSON_SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/** Largest control schema, in characters of its JSON text. */
export const MAX_CONTROL_SCHEMA_CHARS = 16_384
/** Most fields of a control schema, in all objects together. */
const MAX_FIELDS = 128
const MAX_ITEMS = 64

const name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
    'must be a name of letters, digits and underscores that begins with a letter',
  )
/** Returns the schema of a text that every store can hold. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed text')
const notes = { title: text(100).optional(), description: text(500).optional() }

const NumberField = z
  .strictObject({
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    /** The unit, such as `m/s`. */
    'x-unit': text(20).optional(),
    /** Whether it is a speed, which the latency may limit. It needs bounds around 0. */
    'x-speed': z.boolean().optional(),
    ...notes,
  })
  .refine(
    ({ minimum = -Infinity, maximum = Infinity }) => minimum <= maximum,
    'needs a minimum up to its maximum',
  )
  .refine(
    ({ minimum, maximum, 'x-speed': isSpeed }) =>
      isSpeed !== true || (minimum !== undefined && maximum !== undefined && minimum <= 0 && maximum >= 0),
    'is a speed (x-speed), which needs a minimum up to 0 and a maximum from 0',
  )
const BooleanField = z.strictObject({ type: z.literal('boolean'), ...notes })
const ChoiceField = z.strictObject({
  type: z.literal('string'),
  enum: z.array(text(64).min(1)).min(1).max(32),
  ...notes,
})
const ArrayField = z.strictObject({
  type: z.literal('array'),
  items: NumberField,
  minItems: z.number().int().min(0).max(MAX_ITEMS).optional(),
  maxItems: z.number().int().min(1).max(MAX_ITEMS),
  ...notes,
})
const leaves = [NumberField, BooleanField, ChoiceField, ArrayField] as const

const objectOf = <F extends z.ZodType>(field: F) =>
  z
    .strictObject({
      type: z.literal('object'),
      properties: z.record(name, field),
      required: z.array(name).max(MAX_FIELDS).optional(),
      additionalProperties: z.literal(false).optional(),
      ...notes,
    })
    .refine(
      ({ properties, required = [] }) => required.every((field) => Object.hasOwn(properties, field)),
      'requires a field that it does not declare',
    )

const InnerObject = objectOf(z.union(leaves))
const OuterObject = objectOf(z.union([...leaves, InnerObject]))
const rootField = z.union([...leaves, OuterObject])
/** One field of a control schema. */
export type ControlField = z.infer<typeof rootField>

/**
 * The commands that a robot accepts: a bounded subset of JSON Schema 2020-12 with `x-unit` and `x-speed`. It has no
 * `pattern`, no references and no combinators, so that a check takes time in proportion to the command.
 */
export const ControlSchema = objectOf(rootField)
  .safeExtend({ $schema: z.literal(JSON_SCHEMA_DIALECT).optional() })
  .refine((schema) => JSON.stringify(schema).length <= MAX_CONTROL_SCHEMA_CHARS, {
    message: `must have at most ${MAX_CONTROL_SCHEMA_CHARS} characters as JSON`,
  })
  .refine((schema) => countFields(schema) <= MAX_FIELDS, `must have at most ${MAX_FIELDS} fields`)
export type ControlSchema = z.infer<typeof ControlSchema>

function countFields({
  properties,
}: {
  readonly properties: Readonly<Record<string, ControlField>>
}): number {
  let count = 0
  for (const field of Object.values(properties)) count += field.type === 'object' ? 1 + countFields(field) : 1
  return count
}

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
   * otherwise a copy.
   */
  clamp(data: unknown, speedScale: number): unknown
}

/** Compiles a control schema. Call it once for each schema, not for each command. */
export function compileControlSchema(schema: ControlSchema): ControlRules {
  const validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  const speeds = [...speedsOf(schema.properties, [])]
  return {
    problemOf(data) {
      const { error } = validator.safeParse(data)
      const issue = error?.issues[0]
      return issue && [issue.path.join('.'), issue.message].filter(Boolean).join(': ')
    },
    clamp(data, speedScale) {
      let clamped = data
      for (const speed of speeds) clamped = clampAt(clamped, speed, 0, speedScale)
      return clamped
    },
  }
}

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
    return clamped === record[field] ? value : { ...record, [field]: clamped }
  }
  if (!Array.isArray(value)) return clampNumber(value, speed, speedScale)
  const items = value.map((item) => clampNumber(item, speed, speedScale))
  return items.every((item, index) => item === value[index]) ? value : items
}

function clampNumber(value: unknown, { minimum, maximum }: Speed, speedScale: number): unknown {
  if (typeof value !== 'number') return value
  return Math.min(Math.max(value, minimum * speedScale), maximum * speedScale)
}
