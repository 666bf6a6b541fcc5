import { z } from 'zod'

export const JSON_SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/** Largest declared schema, in characters of its JSON text. */
export const MAX_SCHEMA_CHARS = 16_384
/** Most fields of a declared schema, in all objects together. */
const MAX_FIELDS = 128

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
export const notes = { title: text(100).optional(), description: text(500).optional() }

/** The keywords of a number. */
export const numberKeywords = {
  type: z.enum(['number', 'integer']),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  /** The unit, such as `m/s`. */
  'x-unit': text(20).optional(),
  ...notes,
}
/** Returns whether the bounds of a number leave a value. */
export const hasRange = ({
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
}: {
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
}): boolean => minimum <= maximum
export const NO_RANGE = 'needs a minimum up to its maximum'

export const BooleanField = z.strictObject({ type: z.literal('boolean'), ...notes })
export const ChoiceField = z.strictObject({
  type: z.literal('string'),
  enum: z.array(text(64).min(1)).min(1).max(32),
  ...notes,
})

/** Returns the keywords of an object with these fields. */
export const objectKeywords = <F extends z.ZodType>(field: F) => ({
  type: z.literal('object'),
  properties: z.record(name, field),
  required: z.array(name).max(MAX_FIELDS).optional(),
  additionalProperties: z.literal(false).optional(),
  ...notes,
})
/** Returns whether an object declares all fields that it requires. */
export const declaresRequired = ({
  properties,
  required = [],
}: {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: readonly string[] | undefined
}): boolean => required.every((field) => Object.hasOwn(properties, field))
export const UNDECLARED = 'requires a field that it does not declare'

/** Returns whether a schema is small enough to be stored and sent. */
export const isSmall = (schema: unknown): boolean => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS
export const TOO_LARGE = `must have at most ${MAX_SCHEMA_CHARS} characters as JSON`

interface WithFields {
  readonly properties: Readonly<Record<string, { readonly type: string }>>
}

/** Returns whether a schema has no more fields than allowed, in all objects together. */
export const hasFewFields = (schema: WithFields): boolean => countFields(schema) <= MAX_FIELDS
export const TOO_MANY = `must have at most ${MAX_FIELDS} fields`

function countFields({ properties }: WithFields): number {
  let count = 0
  for (const field of Object.values(properties)) {
    const inner = 'items' in field ? (field.items as { readonly type: string }) : field
    count += 1 + ('properties' in inner ? countFields(inner as WithFields) : 0)
  }
  return count
}

/** Compiles a declared schema. Returns a function that returns what is wrong with a value, undefined if nothing is. */
export function compileCheck(schema: unknown): (value: unknown) => string | undefined {
  const validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  return (value) => {
    const issue = validator.safeParse(value).error?.issues[0]
    return issue && [issue.path.join('.'), issue.message].filter(Boolean).join(': ')
  }
}
