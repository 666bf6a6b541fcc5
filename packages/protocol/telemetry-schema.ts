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
  NO_RANGE,
  notes,
  numberKeywords,
  objectKeywords,
  TOO_MANY,
  UNDECLARED,
} from './declared-fields.ts'

/** Most items of an array: the rays of a lidar scan. */
const MAX_ITEMS = 2_048

/** The meaning of a field of the telemetry, for programs that draw it. */
export const TelemetryKind = z.enum(['pose', 'velocity', 'battery', 'joints', 'obstacles', 'scan'])
export type TelemetryKind = z.infer<typeof TelemetryKind>

const kind = { 'x-kind': TelemetryKind.optional() }
const NumberField = z.strictObject({ ...numberKeywords, ...kind }).refine(hasRange, NO_RANGE)
const TextField = z.strictObject({
  type: z.literal('string'),
  maxLength: z.number().int().min(1).max(1_000),
  ...notes,
})
const simple = [NumberField, BooleanField, ChoiceField, TextField] as const

const objectOf = <F extends z.ZodType>(field: F) =>
  z.strictObject({ ...objectKeywords(field), ...kind }).refine(declaresRequired, UNDECLARED)

const ArrayField = z.strictObject({
  type: z.literal('array'),
  items: z.union([NumberField, objectOf(z.union(simple))]),
  minItems: z.number().int().min(0).max(MAX_ITEMS).optional(),
  maxItems: z.number().int().min(1).max(MAX_ITEMS),
  ...notes,
  ...kind,
})
const leaves = [...simple, ArrayField] as const
const InnerObject = objectOf(z.union(leaves))
const OuterObject = objectOf(z.union([...leaves, InnerObject]))
const rootField = z.union([...leaves, OuterObject])
/** One field of a telemetry schema. */
export type TelemetryField = z.infer<typeof rootField>

/** The numbers that a field of a kind must declare; see `docs/protocol-schemas.md`. */
const KIND_SHAPES: Readonly<
  Record<TelemetryKind, { readonly is: (field: TelemetryField) => boolean; readonly needs: string }>
> = {
  pose: {
    is: (field) => declaresNumbers(field, ['x_m', 'y_m', 'heading_rad']),
    needs: 'an object with the numbers x_m, y_m and heading_rad',
  },
  velocity: {
    is: (field) => declaresNumbers(field, ['linear_mps']) || declaresNumbers(field, ['angular_radps']),
    needs: 'an object with the number linear_mps, angular_radps or both',
  },
  battery: { is: isNumber, needs: 'a number' },
  joints: {
    is: (field) =>
      field.type === 'array'
        ? isNumber(field.items)
        : field.type === 'object' && Object.values(field.properties).every(isNumber),
    needs: 'an object or an array of numbers',
  },
  obstacles: {
    is: (field) =>
      declaresNumbers(field.type === 'array' ? field.items : field, ['distance_m', 'bearing_rad']),
    needs: 'an object, or an array of objects, with the numbers distance_m and bearing_rad',
  },
  scan: {
    is: (field) =>
      declaresNumbers(field, ['angle_min_rad', 'angle_increment_rad']) && isNumberArray(field, 'ranges_m'),
    needs:
      'an object with the numbers angle_min_rad and angle_increment_rad and the array of numbers ranges_m',
  },
}

/**
 * How the main camera looks at the floor, so that its picture can show where the robot goes: where it is above the floor, by how much
 * it points down, its angle of view, and how wide the robot is.
 */
export const CameraView = z.strictObject({
  height_m: z.number().min(0.01).max(20),
  pitch_rad: z.number().min(-1.5).max(1.5),
  horizontal_fov_rad: z.number().min(0.1).max(3),
  robot_width_m: z.number().min(0.01).max(10),
})
export type CameraView = z.infer<typeof CameraView>

/**
 * The telemetry that a robot sends: a bounded subset of JSON Schema 2020-12 with `x-unit` and `x-kind`. It has no
 * `pattern`, no references and no combinators, so that a check takes time in proportion to the sample.
 */
export const TelemetrySchema = bounded(
  z
    .strictObject({
      ...objectKeywords(rootField),
      $schema: z.literal(JSON_SCHEMA_DIALECT).optional(),
      'x-camera-view': CameraView.optional(),
    })
    .refine(declaresRequired, UNDECLARED)
    .refine(hasFewFields, TOO_MANY)
    .superRefine(({ properties }, context) => {
      for (const { path, kind, field } of kindsOf({ properties })) {
        const { is, needs } = KIND_SHAPES[kind]
        if (is(field)) continue
        context.addIssue({
          code: 'custom',
          path: ['properties', ...path],
          message: `is a ${kind}, so it must be ${needs}`,
        })
      }
    }),
)
export type TelemetrySchema = z.infer<typeof TelemetrySchema>

/** A field of a telemetry schema that has a kind. */
export interface KindOfField {
  /** The names of the fields from the top of the sample. */
  readonly path: readonly string[]
  readonly kind: TelemetryKind
  readonly field: TelemetryField
}

/** Returns the fields that have a kind, in the order of the schema. */
export function* kindsOf(
  { properties }: Pick<TelemetrySchema, 'properties'>,
  above: readonly string[] = [],
): Generator<KindOfField> {
  for (const [name, field] of Object.entries(properties)) {
    const path = [...above, name]
    if ('x-kind' in field && field['x-kind'] !== undefined) yield { path, kind: field['x-kind'], field }
    if (field.type === 'object') yield* kindsOf(field, path)
  }
}

/** A telemetry schema that is ready to check samples. */
export interface TelemetryRules {
  /** Returns what is wrong with the data of a sample; undefined if the schema allows it. */
  problemOf(data: unknown): string | undefined
}

/** Compiles a telemetry schema. Call it once for each schema, not for each sample. */
export const compileTelemetrySchema = (schema: TelemetrySchema): TelemetryRules => ({
  problemOf: compileCheck(schema),
})

function isNumber({ type }: TelemetryField): boolean {
  return type === 'number' || type === 'integer'
}

function declaresNumbers(field: TelemetryField, names: readonly string[]): boolean {
  if (field.type !== 'object') return false
  const { properties } = field
  return names.every((name) => properties[name] !== undefined && isNumber(properties[name]))
}

function isNumberArray(field: TelemetryField, name: string): boolean {
  const inner = field.type === 'object' ? field.properties[name] : undefined
  return inner?.type === 'array' && isNumber(inner.items)
}
