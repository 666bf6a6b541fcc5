import { isDeepStrictEqual } from 'node:util'
import type { OpenApiDocument } from '../openapi/document.ts'

/** A JSON Schema as far as it is read here. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: string[]
  readonly anyOf?: Schema[]
}

/** Keywords that only say what the fields say anyway. */
const CHATTER = new Set(['examples', 'example'])

/**
 * A schema of the description with everything that it refers to written in its place: clients of models know little
 * of references. None refers to itself.
 * @param options `brief` leaves out examples
 */
export function inlined(
  document: OpenApiDocument,
  schema: unknown,
  options: { brief?: boolean } = {},
): Schema {
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    if ('$ref' in part) {
      const { $ref, ...beside } = part
      return { ...(walk(target(document, String($ref))) as object), ...(walk(beside) as object) }
    }
    // An example of an id is one that a model may take for an id.
    const brief = options.brief || ('format' in part && part.format === 'uuid')
    const kept = Object.entries(part).filter(([keyword]) => !(brief && CHATTER.has(keyword)))
    return Object.fromEntries(kept.map(([keyword, value]) => [keyword, walk(value)]))
  }
  return walk(schema) as Schema
}

/** What a reference such as `#/components/schemas/Robot` points to. */
export function target(document: OpenApiDocument, ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((part, step) => Reflect.get(Object(part), step), document)
}

/** The fields of an object, or of whichever of several objects it is. */
export function fieldsOf(schema: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...(schema.anyOf ?? []).map(fieldsOf), schema.properties)
}

/** An object schema with some of its fields only; variants that differ in nothing else become one. */
export function withFields(schema: Schema, keep: (name: string) => boolean): Schema {
  if (schema.anyOf) {
    const { anyOf, ...beside } = schema
    const variants = anyOf.map((one) => withFields(one, keep))
    const [first = {}, ...others] = variants.map(({ properties, required }) => ({ properties, required }))
    const same = others.every((other) => isDeepStrictEqual(other, first))
    return same ? { ...beside, ...first } : { ...beside, anyOf: variants }
  }
  const { properties = {}, required = [] } = schema
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => keep(name))),
    required: required.filter(keep),
  }
}
