import { z } from 'zod'

export const JSON_SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema'
/** Largest declared schema, in characters of its JSON text. */
export const MAX_SCHEMA_CHARS = 16_384
/** Most fields of a declared schema, in all objects together. */
const MAX_FIELDS = 128

/** The name of a field. */
export const FIELD_NAME = /^\p{L}[\p{L}\p{M}\p{N}_./-]{0,63}$/u
const name = z
  .string()
  .regex(FIELD_NAME, 'must be a name of letters, digits, _, ., / and - that begins with a letter')
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

/** Most objects in a declared schema: each field is one, and so are its items, its properties and what contains them. */
const MAX_OBJECTS = 4 * MAX_FIELDS

/**
 * Returns the schema of a declared schema that refuses what is too large before it reads the structure. A validator collects all
 * problems, so that a large text of nothing but problems would hold its thread.
 */
export const bounded = <S extends z.ZodType>(structure: S) =>
  z.preprocess((value, context) => {
    let objects = 0
    // Called for each value; what is thrown ends the serialization.
    const count = (_: string, item: unknown) => {
      if (typeof item === 'object' && ++objects > MAX_OBJECTS) throw new RangeError(TOO_MANY)
      return item
    }
    try {
      if ((JSON.stringify(value, count) ?? '').length <= MAX_SCHEMA_CHARS) return value
      context.addIssue(TOO_LARGE)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      context.addIssue(TOO_MANY) // also for a nesting that exhausts the stack
    }
    return z.NEVER
  }, structure)
const TOO_LARGE = `must have at most ${MAX_SCHEMA_CHARS} characters as JSON`

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

/** A declared field, in all its kinds. */
interface Declared {
  readonly type: string
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly enum?: readonly string[] | undefined
  readonly maxLength?: number | undefined
  readonly items?: Declared | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly properties?: Readonly<Record<string, Declared>> | undefined
  readonly required?: readonly string[] | undefined
  readonly additionalProperties?: false | undefined
}

/** A problem of a value, and its place. */
interface Problem {
  readonly path: string
  readonly text: string
}
type Check = (value: unknown) => Problem | undefined

const problem = (text: string): Problem => ({ path: '', text })
const below = (name: string | number, { path, text }: Problem): Problem => ({
  path: path === '' ? String(name) : `${name}.${path}`,
  text,
})

/**
 * Compiles a declared schema. Returns a function that returns what is wrong with a value, undefined if nothing is. It stops at the
 * first problem, and looks at lengths and at the number of names before it looks at items: robots and gateways check every
 * frame in the thread that also relays stops.
 */
export function compileCheck(schema: Declared): (value: unknown) => string | undefined {
  const check = checkOf(schema)
  return (value) => {
    const found = check(value)
    return found && [found.path, found.text].filter(Boolean).join(': ')
  }
}

function checkOf(field: Declared): Check {
  switch (field.type) {
    case 'object':
      return objectCheck(field)
    case 'array':
      return arrayCheck(field)
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? undefined : problem('must be true or false'))
    case 'string':
      return textCheck(field)
    default:
      return numberCheck(field)
  }
}

function numberCheck({
  type,
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
}: Declared): Check {
  const isKind = type === 'integer' ? Number.isSafeInteger : Number.isFinite
  return (value) => {
    if (!isKind(value)) return problem(type === 'integer' ? 'must be an integer' : 'must be a number')
    if ((value as number) < minimum) return problem(`must be at least ${minimum}`)
    return (value as number) > maximum ? problem(`must be at most ${maximum}`) : undefined
  }
}

function textCheck({ enum: choices, maxLength = Number.POSITIVE_INFINITY }: Declared): Check {
  const allowed = choices && new Set<unknown>(choices)
  return (value) => {
    if (typeof value !== 'string') return problem('must be a text')
    if (value.length > maxLength) return problem(`must have at most ${maxLength} characters`)
    return !allowed || allowed.has(value) ? undefined : problem('must be one of the declared texts')
  }
}

function arrayCheck({ items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Declared): Check {
  const check = items && checkOf(items)
  return (value) => {
    if (!Array.isArray(value)) return problem('must be an array')
    if (value.length < minItems) return problem(`must have at least ${minItems} items`)
    if (value.length > maxItems) return problem(`must have at most ${maxItems} items`)
    if (!check) return undefined
    for (let index = 0; index < value.length; index++) {
      const found = check(value[index])
      if (found) return below(index, found)
    }
    return undefined
  }
}

/** Returns a field of the value itself: a name such as `constructor` finds nothing that is inherited. */
const own = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined

function objectCheck({ properties = {}, required = [], additionalProperties }: Declared): Check {
  const checks = new Map(Object.entries(properties).map(([name, field]) => [name, checkOf(field)]))
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return problem('must be an object')
    for (const name of required) if (own(value, name) === undefined) return below(name, problem('is missing'))
    if (additionalProperties === false) {
      for (const name in value)
        if (!checks.has(name)) return below(name.slice(0, 64), problem('is not declared'))
    }
    for (const [name, check] of checks) {
      const item = own(value, name)
      const found = item === undefined ? undefined : check(item)
      if (found) return below(name, found)
    }
    return undefined
  }
}
