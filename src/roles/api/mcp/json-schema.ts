import type { OpenApiDocument } from '../openapi/document.ts'

/** The parts of a JSON Schema that this folder uses. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: string[]
  readonly anyOf?: Schema[]
}

/**
 * Returns a schema of the description with its references inlined, because few model clients resolve references. No
 * schema refers to itself. Examples are removed: they are long, and a model may use one as a value.
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

/** Returns the target of a reference such as `#/components/schemas/Robot`. */
export function resolveReference(document: OpenApiDocument, ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((part, step) => Reflect.get(Object(part), step), document)
}

/** Returns the fields of an object, or of all variants of a union of objects. */
export function fieldsOf(schema: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...(schema.anyOf ?? []).map(fieldsOf), schema.properties)
}

/**
 * Returns the names of the fields of an object and of the objects in its lists, without types. A model needs only the
 * names to know the result, and they take a tenth of the size.
 */
export function fieldNames(
  schema: Schema,
  keep: (name: string) => boolean = () => true,
  keepInLists: (name: string) => boolean = () => true,
): Schema {
  const names = Object.entries(fieldsOf(schema)).filter(([name]) => keep(name))
  const summarize = ({ items, anyOf }: Schema): Schema => {
    const entries = fieldsOf((items ?? anyOf?.find((variant) => variant.items)?.items ?? {}) as Schema)
    const kept = Object.keys(entries).filter(keepInLists)
    return kept.length > 0
      ? { items: { properties: Object.fromEntries(kept.map((name) => [name, {}])) } }
      : {}
  }
  return { properties: Object.fromEntries(names.map(([name, value]) => [name, summarize(value)])) }
}
