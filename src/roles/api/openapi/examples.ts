import type { oas31 } from 'zod-openapi'

type Schema = oas31.SchemaObject
type SchemaOrRef = Schema | oas31.ReferenceObject
/** Resolves a `$ref`. */
type Resolve = (ref: string) => SchemaOrRef

const MAX_DEPTH = 12

/** Values for formats that the type does not imply. */
const byFormat: Readonly<Record<string, string>> = {
  uuid: '0b8f4c1e-6a57-4f0e-9a3d-2c5e7d9b1f42',
  'date-time': '2026-11-20T09:30:00.000Z',
  date: '2026-11-20',
  time: '09:30:00',
  duration: 'PT30M',
  email: 'ada@example.com',
  'idn-email': 'ada@example.com',
  uri: 'https://example.com/',
  binary: 'the bytes of the file',
}

/** Returns a value that matches a schema, always the same one. Examples of the schema have precedence. */
export function exampleOf(schema: SchemaOrRef, resolve: Resolve, name = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return null
  if (isRef(schema)) return exampleOf(resolve(schema.$ref), resolve, name, depth + 1)
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum?.length) return schema.enum[0]
  const firstVariant = (schema.oneOf ?? schema.anyOf)?.find(
    (variant) => isRef(variant) || variant.type !== 'null',
  )
  if (firstVariant) return exampleOf(firstVariant, resolve, name, depth + 1)
  const inner = (child: SchemaOrRef, childName: string) => exampleOf(child, resolve, childName, depth + 1)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((variant) => inner(variant, name)))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object':
      return mapValues(schema.properties ?? {}, inner)
    case 'array':
      return schema.items
        ? Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => inner(schema.items!, name))
        : []
    case 'integer':
    case 'number':
      return number(schema)
    case 'boolean':
      return schema.default ?? true
    case 'string':
      return schema.default ?? text(schema, name)
    case 'null':
      return null
    default:
      return {}
  }
}

function number({ default: defaultValue, minimum, maximum, exclusiveMinimum, multipleOf }: Schema): unknown {
  if (defaultValue !== undefined) return defaultValue
  const step = multipleOf ?? 1
  const lowest = minimum ?? (typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : step)
  return Math.min(Math.ceil(lowest / step) * step, maximum ?? Infinity)
}

/** Returns a text by format, otherwise the name of the property in words, within the length limits. */
function text({ format, minLength = 0, maxLength }: Schema, name: string): string {
  const known = format === undefined ? undefined : byFormat[format]
  if (known !== undefined) return known
  const words =
    name
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replaceAll(/[_-]/g, ' ')
      .toLowerCase() || 'text'
  return words.padEnd(minLength, '.').slice(0, maxLength)
}

const isRef = (schema: SchemaOrRef): schema is oas31.ReferenceObject => '$ref' in schema

function mapValues<T>(record: Record<string, T>, map: (value: T, key: string) => unknown) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}
