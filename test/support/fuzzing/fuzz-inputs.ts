import fc, { type Arbitrary } from 'fast-check'
import type { OpenApiDocument } from '../../../src/roles/api/openapi/document.ts'

/** Creates a placeholder for an id of some kind; the sender replaces it with an id that the platform has created. */
const idMark = (kind: string, index: number) => `@@${kind}:${index}@@`
const MARK = /@@(\w*):(\d+)@@/g

/** Replaces placeholders with ids. */
export const withIds = (text: string, idOf: (kind: string, index: number) => string) =>
  text.replaceAll(MARK, (_mark, kind, index) => idOf(kind, Number(index)))

/** Generates an id, mostly of this kind. */
export const anId = (kind: string): Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(kind, kind, kind, kind, ''), fc.nat({ max: 60 }))
    .map(([kind, index]) => idMark(kind, index))

/** Returns the kind of the id in a field called `robotId` or `robot_id`. */
export const kindOf = (field: string) => field.replace(/_?id$/i, '')
/** A placeholder for a number that JSON can express and JavaScript cannot. */
const ENDLESS = '@@1e999@@'

/** Returns a value as JSON text. */
export const toText = (value: unknown) => JSON.stringify(value ?? null).replaceAll(`"${ENDLESS}"`, '1e999')

/** Text that is known to break parsers. */
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff',
    '\ufeff',
    '\u202eevil',
    '\r\nSet-Cookie: a=b',
    '\\u0000',
    '__proto__',
    'constructor',
    'toString',
    'null',
    'true',
    'NaN',
    '-0',
    '0x10',
    '1e999',
    '9'.repeat(400),
    "'; drop table users; --",
    '%s%n',
    '..\\..\\x',
    '=1+1',
    '<script>',
    'javascript:1',
    '2026-02-30T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '0000-00-00',
    '9999-12-31T23:59:59.999Z',
    '00000000-0000-0000-0000-000000000000',
    'A'.repeat(5_000),
    '🦾'.repeat(2_000),
    'é'.normalize('NFD'),
  ),
)

const hostileNumber: Arbitrary<unknown> = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, -1, 0.1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324, ENDLESS),
)

const key = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'id', 'role', '', 'a.b', '$where', '\0'),
  hostileText,
)

const nested = (depth: number, inObjects: boolean): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = inObjects ? { a: value } : [value]
  return value
}

/** JSON of any shape: wrong types, odd keys, deep nesting. */
export const anyJson: Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), hostileNumber, hostileText, anId('')),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    fc.tuple(fc.nat({ max: 1_000 }), fc.boolean()).map(([depth, inObjects]) => nested(depth, inObjects)),
  ),
})).value

type Schema = Exclude<Parameters<typeof resolveRef>[1], undefined>
type Components = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>

function resolveRef(components: Components, schema: Components[string]) {
  return '$ref' in schema ? components[schema.$ref.split('/').at(-1) as string] : schema
}

/** Values that an OpenAPI schema allows, among them values that the platform must reject nevertheless. */
export function fromSchema(
  components: Components,
  reference: Schema,
  name = '',
  depth = 0,
): Arbitrary<unknown> {
  const schema = resolveRef(components, reference)
  if (!schema || '$ref' in schema || depth > 8) return anyJson
  const inner = (part: Schema, field = name) => fromSchema(components, part, field, depth + 1)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return fc.oneof(...parts.map((part) => inner(part)))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object': {
      const required = new Set(schema.required)
      const fields = Object.entries(schema.properties ?? {}).map(([field, part]) =>
        required.has(field) ? inner(part, field) : fc.option(inner(part, field), { nil: undefined }),
      )
      const names = Object.keys(schema.properties ?? {})
      return fc
        .tuple(...fields)
        .map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]])))
    }
    case 'array':
      return schema.items ? fc.array(inner(schema.items), { maxLength: 5 }) : anyJson
    case 'integer':
      return fc.integer(limits(schema))
    case 'number':
      return fc.double({ ...limits(schema), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'string':
      return text(schema, name)
    default:
      return anyJson
  }
}

const limits = ({ minimum, maximum }: { minimum?: number; maximum?: number }) => ({
  min: Math.max(minimum ?? -(2 ** 31), -(2 ** 31)),
  max: Math.min(maximum ?? 2 ** 31, 2 ** 31),
})

interface TextSchema {
  format?: string
  minLength?: number
  maxLength?: number
  examples?: unknown[]
}

function text(schema: TextSchema, name: string): Arbitrary<unknown> {
  const { format, minLength = 0, maxLength = 50, examples = [] } = schema
  if (format === 'uuid') {
    return fc.oneof({ weight: 8, arbitrary: anId(kindOf(name)) }, { weight: 1, arbitrary: fc.uuid() })
  }
  if (format === 'date-time') {
    const soon = fc
      .integer({ min: 1, max: 90 * 24 * 60 })
      .map((minutes) => new Date(Date.now() + minutes * 60_000))
    return fc.oneof(soon, fc.date({ noInvalidDate: true })).map((date) => date.toISOString())
  }
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) }
  const samples = examples.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...examples) }] : []
  return fc.oneof(
    ...samples,
    fc.string({ unit: 'grapheme', ...length }),
    fc.string({ unit: 'binary', ...length }),
  )
}

/** Creates a value with one change: a missing field, a field of another type, or an additional one. */
export function corrupted(valid: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc
    .tuple(valid, fc.constantFrom('replace', 'remove', 'add'), fc.nat({ max: 50 }), anyJson, key)
    .map(([value, how, at, other, name]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return other
      const entries = Object.entries(value)
      if (how === 'add' || entries.length === 0) return Object.fromEntries([...entries, [name, other]])
      const chosen = at % entries.length
      if (how === 'remove') return Object.fromEntries(entries.filter((_entry, index) => index !== chosen))
      return Object.fromEntries(entries.map(([field, old], index) => [field, index === chosen ? other : old]))
    })
}
