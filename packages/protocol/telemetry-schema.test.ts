import { describe, expect, test } from 'vitest'
import { JSON_SCHEMA_DIALECT, MAX_SCHEMA_CHARS } from './declared-fields.ts'
import { compileTelemetrySchema, kindsOf, TelemetryKind, TelemetrySchema } from './telemetry-schema.ts'

const number = (unit?: string) => ({ type: 'number', ...(unit && { 'x-unit': unit }) })
const obstacle = {
  type: 'object',
  properties: { distance_m: { type: 'number', minimum: 0 }, bearing_rad: number('rad') },
  required: ['distance_m', 'bearing_rad'],
}
const declared = {
  $schema: JSON_SCHEMA_DIALECT,
  type: 'object',
  properties: {
    pose: {
      type: 'object',
      'x-kind': 'pose',
      properties: { x_m: number('m'), y_m: number('m'), heading_rad: number('rad') },
      required: ['x_m', 'y_m', 'heading_rad'],
    },
    velocity: { type: 'object', 'x-kind': 'velocity', properties: { linear_mps: number('m/s') } },
    battery: { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' },
    arm: {
      type: 'object',
      properties: {
        joints: { type: 'array', items: number('rad'), minItems: 3, maxItems: 3, 'x-kind': 'joints' },
      },
    },
    gripper: { type: 'object', 'x-kind': 'joints', properties: { left: number('m'), right: number('m') } },
    obstacles: { type: 'array', items: obstacle, maxItems: 32, 'x-kind': 'obstacles' },
    lidar: {
      type: 'object',
      'x-kind': 'scan',
      properties: {
        angle_min_rad: number('rad'),
        angle_increment_rad: number('rad'),
        range_max_m: number('m'),
        ranges_m: { type: 'array', items: number('m'), maxItems: 2_048 },
      },
      required: ['angle_min_rad', 'angle_increment_rad', 'ranges_m'],
    },
    mode: { type: 'string', enum: ['auto', 'manual'] },
    note: { type: 'string', maxLength: 20 },
    bumped: { type: 'boolean' },
  },
  required: ['battery'],
}
const sample = {
  pose: { x_m: 1, y_m: -2, heading_rad: 0.5 },
  battery: 0.5,
  arm: { joints: [0, 1, -1] },
  obstacles: [{ distance_m: 1, bearing_rad: 0 }],
  lidar: { angle_min_rad: -3.1, angle_increment_rad: 0.003, ranges_m: Array(2_048).fill(1.25) },
  mode: 'auto',
  note: 'well',
  bumped: false,
}

describe('a telemetry schema', () => {
  const properties = (field: unknown) => ({ type: 'object', properties: { a: field } })
  test.each([
    ['an unknown keyword', properties({ type: 'number', multipleOf: 2 })],
    ['a pattern', properties({ type: 'string', pattern: '(a+)+$' })],
    ['a text without a length', properties({ type: 'string' })],
    ['a reference', properties({ $ref: 'https://example.com/schema' })],
    ['an unknown kind', properties({ type: 'number', 'x-kind': 'temperature' })],
    ['a pose without a heading', properties({ ...declared.properties.velocity, 'x-kind': 'pose' })],
    ['a velocity that is a number', properties({ type: 'number', 'x-kind': 'velocity' })],
    [
      'a battery that is a list',
      properties({ ...declared.properties.arm.properties.joints, 'x-kind': 'battery' }),
    ],
    ['joints with a flag', properties({ ...properties({ type: 'boolean' }), 'x-kind': 'joints' })],
    [
      'obstacles that are numbers',
      properties({ type: 'array', items: number(), maxItems: 2, 'x-kind': 'obstacles' }),
    ],
    ['a scan without ranges', properties({ ...declared.properties.pose, 'x-kind': 'scan' })],
    ['a required field that is not declared', { ...properties({ type: 'boolean' }), required: ['b'] }],
    ['an array of more than 2,048 items', properties({ type: 'array', items: number(), maxItems: 2_049 })],
    ['four levels of objects', properties(properties(properties(properties({ type: 'boolean' }))))],
    [
      'more than 128 fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 129 }, (_, n) => [`f${n}`, { type: 'boolean' }])),
      },
    ],
    [
      'more than 128 fields in the items of an array',
      properties({
        type: 'array',
        maxItems: 2,
        items: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 128 }, (_, n) => [`f${n}`, { type: 'boolean' }]),
          ),
        },
      }),
    ],
    [
      'too much text',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: MAX_SCHEMA_CHARS / 400 }, (_, n) => [
            `f${n}`,
            { type: 'boolean', description: 'd'.repeat(400) },
          ]),
        ),
      },
    ],
  ])('does not have %s', (_what, schema) => {
    expect(TelemetrySchema.safeParse(schema).success).toBe(false)
  })

  test('names the field whose kind does not fit, and what the kind needs', () => {
    const { error } = TelemetrySchema.safeParse(
      properties({ ...properties({ type: 'boolean' }), 'x-kind': 'pose' }),
    )
    expect(error?.issues).toMatchObject([
      { path: ['properties', 'a'], message: expect.stringContaining('x_m, y_m and heading_rad') },
    ])
  })

  test('has kinds at every level', () => {
    const kinds = [...kindsOf(TelemetrySchema.parse(declared))].map(({ path, kind }) => [
      path.join('.'),
      kind,
    ])
    expect(kinds).toEqual([
      ['pose', 'pose'],
      ['velocity', 'velocity'],
      ['battery', 'battery'],
      ['arm.joints', 'joints'],
      ['gripper', 'joints'],
      ['obstacles', 'obstacles'],
      ['lidar', 'scan'],
    ])
    expect(new Set(kinds.map(([, kind]) => kind))).toEqual(new Set(TelemetryKind.options))
  })
})

describe('a sample', () => {
  const rules = compileTelemetrySchema(TelemetrySchema.parse(declared))

  test('of the schema has no problem, also with fields that are not declared', () => {
    expect(rules.problemOf(sample)).toBeUndefined()
    expect(rules.problemOf({ ...sample, more: { any: [1] } })).toBeUndefined()
  })

  test.each([
    ['battery', { ...sample, battery: 1.5 }],
    ['battery', { ...sample, battery: Number.NaN }],
    ['battery', { ...sample, battery: undefined }],
    ['pose.heading_rad', { ...sample, pose: { x_m: 1, y_m: 2 } }],
    ['arm.joints', { ...sample, arm: { joints: [1, 2] } }],
    ['obstacles.0.distance_m', { ...sample, obstacles: [{ distance_m: -1, bearing_rad: 0 }] }],
    ['lidar.ranges_m', { ...sample, lidar: { ...sample.lidar, ranges_m: Array(2_049).fill(1) } }],
    ['lidar.ranges_m.1', { ...sample, lidar: { ...sample.lidar, ranges_m: [1, null] } }],
    ['mode', { ...sample, mode: 'off' }],
    ['note', { ...sample, note: 'x'.repeat(21) }],
    ['', null],
  ])('names %s', (path, data) => {
    expect(rules.problemOf(data)).toMatch(path === '' ? /./ : new RegExp(`^${path}: `))
  })
})

test.each(['joint.1', 'arm/left', 'left-arm', 'höhe', '位置', 'दूरी'])('a field may be called %s', (name) => {
  const schema = { type: 'object', properties: { [name]: number('m') }, required: [name] }
  const rules = compileTelemetrySchema(TelemetrySchema.parse(schema))
  expect(rules.problemOf({ [name]: 1 })).toBeUndefined()
  expect(rules.problemOf({})).toContain(name)
})

test.each(['', '1st', '_x', '.a', 'a b', 'a\u200bb', 'a'.repeat(65)])(
  'a field cannot be called %j',
  (name) => {
    const properties = Object.fromEntries([[name, number('m')]])
    expect(TelemetrySchema.safeParse({ type: 'object', properties }).success).toBe(false)
  },
)
