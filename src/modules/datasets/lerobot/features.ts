import { ControlSchema, isSpeedField, TelemetrySchema } from '@wheelhouse/protocol'

/** Arrays with more items become separate features, so that the state stays a vector that a policy can use. */
const MAX_STATE_ITEMS = 64

const STATE = 'observation.state'
const ACTION = 'action'
const POLICY_ACTION = 'policy_action'

/** A number of a command or of the telemetry. */
export interface NumberSlot {
  /** The names of the fields and the indexes of the items that lead to it. */
  readonly path: readonly (string | number)[]
  readonly kind: 'number' | 'boolean' | 'choice'
  readonly unit: string | null
  /** The values of a choice. Its number is the index of the value. */
  readonly choices: readonly string[]
  /** The number of a speed while no command is in effect, and of any field of which nothing is known. */
  readonly neutral: number
  /** Whether it is a speed. Any other number, as the position of a joint, holds when the commands end. */
  readonly isSpeed: boolean
}

/** What the schemas of a robot declare. */
export type DeclaredSource = 'control' | 'telemetry'

/** A feature that is a vector of numbers. */
export interface VectorFeature {
  readonly key: string
  /** `policy`: the commands of a policy, whether or not it holds control. */
  readonly source: DeclaredSource | 'policy'
  readonly slots: readonly NumberSlot[]
}

/** The features of a dataset, and the fields that no feature can hold. */
export interface FeatureSet {
  readonly vectors: readonly VectorFeature[]
  readonly omitted: readonly string[]
}

/** A field of a control or telemetry schema, as both have it. */
interface Field {
  readonly type: string
  readonly properties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly maxItems?: number
  readonly enum?: readonly string[]
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly 'x-unit'?: string | undefined
  readonly 'x-speed'?: boolean | undefined
}

interface Leaf {
  readonly path: readonly string[]
  readonly slots: readonly NumberSlot[]
}

/** Returns the name of a slot in the list of names of its feature. */
export const slotName = ({ path }: Pick<NumberSlot, 'path'>): string => path.join('.').replaceAll('/', '_')

/** Returns the features of leaves. */
function assemble(source: DeclaredSource, leaves: readonly Leaf[]): VectorFeature[] {
  const isSmall = ({ slots }: Leaf) => source === 'control' || slots.length <= MAX_STATE_ITEMS
  const main = leaves.filter(isSmall).flatMap(({ slots }) => slots)
  const large = leaves.filter((leaf) => !isSmall(leaf))
  const key = source === 'control' ? ACTION : STATE
  return [
    ...(main.length > 0 ? [{ key, source, slots: main }] : []),
    ...large.map(({ path, slots }) => ({
      key: `observation.telemetry_${path.join('_').replaceAll('/', '_')}`, // LeRobot refuses / in names
      source,
      slots,
    })),
  ]
}

/** Returns the number that is nearest to zero within the bounds of a field. */
const neutralOf = ({
  minimum = Number.NEGATIVE_INFINITY,
  maximum = Number.POSITIVE_INFINITY,
}: Pick<Field, 'minimum' | 'maximum'>): number => Math.min(Math.max(0, minimum), maximum)

function slotOf(path: NumberSlot['path'], field: Field): NumberSlot | undefined {
  const isSpeed = field['x-speed'] === true || isSpeedField(path[0])
  const base = { path, unit: field['x-unit'] ?? null, choices: [], isSpeed }
  if (field.type === 'number' || field.type === 'integer')
    return { ...base, kind: 'number', neutral: neutralOf(field) }
  if (field.type === 'boolean') return { ...base, kind: 'boolean', neutral: 0 }
  if (field.enum) return { ...base, kind: 'choice', choices: field.enum, neutral: 0 }
  return undefined
}

/** Collects the leaves of an object, in the order of its schema. */
function collect(
  properties: Readonly<Record<string, Field>>,
  above: readonly string[],
  found: { leaves: Leaf[]; omitted: string[] },
): void {
  for (const [name, field] of Object.entries(properties)) {
    const path = [...above, name]
    if (field.properties) {
      collect(field.properties, path, found)
      continue
    }
    const { items, maxItems = 0 } = field
    const slots = items
      ? Array.from({ length: maxItems }, (_, index) => slotOf([...path, index], items))
      : [slotOf(path, field)]
    if (slots.every((slot) => slot !== undefined)) found.leaves.push({ path, slots })
    else found.omitted.push(path.join('.'))
  }
}

/** The schemas of a robot as a recording holds them: JSON texts, empty or missing without a declaration. */
export interface SchemaTexts {
  readonly control: string | undefined
  readonly telemetry: string | undefined
}

function parse(text: string | undefined): unknown {
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the features that a schema declares; undefined without a schema. */
function declaredBy(source: DeclaredSource, text: string | undefined): FeatureSet | undefined {
  const schema = source === 'control' ? ControlSchema : TelemetrySchema
  const { data } = schema.safeParse(parse(text))
  if (!data) return undefined
  const found: { leaves: Leaf[]; omitted: string[] } = { leaves: [], omitted: [] }
  collect(data.properties as Readonly<Record<string, Field>>, [], found)
  return { vectors: assemble(source, found.leaves), omitted: found.omitted }
}

/** Returns the feature with the commands of a policy: it has the fields of `action`. */
export const policyFeature = ({ slots }: VectorFeature): VectorFeature => ({
  key: POLICY_ACTION,
  source: 'policy',
  slots,
})

/** Returns the features that the schemas of a robot declare, for each source. */
export const declaredFeatures = (texts: SchemaTexts) => ({
  control: declaredBy('control', texts.control),
  telemetry: declaredBy('telemetry', texts.telemetry),
})

/** Returns the features of leaves that were found in messages. */
export const inferredFeatures = (
  source: DeclaredSource,
  leaves: readonly { readonly path: readonly string[]; readonly slots: readonly NumberSlot[] }[],
): FeatureSet => ({ vectors: assemble(source, leaves), omitted: [] })

/** Returns whether two episodes have the same fields, in the same order. */
export const haveSameFields = (a: FeatureSet, b: FeatureSet): boolean =>
  JSON.stringify(a.vectors) === JSON.stringify(b.vectors)
