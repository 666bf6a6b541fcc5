import type { OpenApiDocument } from '../openapi/document.ts'

/** A JSON Schema as far as it is read here. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: string[]
  readonly anyOf?: Schema[]
}

/**
 * A schema of the description with everything that it refers to written in its place: clients of models know little
 * of references. None refers to itself. Examples are left out: a model may take one for a value, and they are long.
 */
export function inlineReferences(document: OpenApiDocument, schema: unknown): Schema {
  const walk = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(walk)
    if (typeof part !== 'object' || part === null) return part
    if ('$ref' in part) {
      const { $ref, ...siblings } = part
      return { ...(walk(resolveReference(document, String($ref))) as object), ...(walk(siblings) as object) }
    }
    const retained = Object.entries(part).filter(
      ([keyword]) => keyword !== 'examples' && keyword !== 'example',
    )
    return Object.fromEntries(retained.map(([keyword, value]) => [keyword, walk(value)]))
  }
  return walk(schema) as Schema
}

/** What a reference such as `#/components/schemas/Robot` points to. */
export function resolveReference(document: OpenApiDocument, ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((part, step) => Reflect.get(Object(part), step), document)
}

/** The fields of an object, or of whichever of several objects it is. */
export function fieldsOf(schema: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...(schema.anyOf ?? []).map(fieldsOf), schema.properties)
}

/**
 * Returns the names of the fields of an object, and of those of the objects in its lists, without anything about their
 * values: what a model needs to know what it will get, in a tenth of the size.
 */
export function fieldNames(schema: Schema, keep: (name: string) => boolean = () => true): Schema {
  const names = Object.entries(fieldsOf(schema)).filter(([name]) => keep(name))
  const summarize = ({ items, anyOf }: Schema): Schema => {
    const entries = fieldsOf((items ?? anyOf?.find((variant) => variant.items)?.items ?? {}) as Schema)
    const properties = Object.fromEntries(Object.keys(entries).map((name) => [name, {}]))
    return Object.keys(properties).length > 0 ? { items: { properties } } : {}
  }
  return { properties: Object.fromEntries(names.map(([name, value]) => [name, summarize(value)])) }
}
