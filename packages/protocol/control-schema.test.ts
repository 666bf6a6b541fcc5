import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ControlSchema, compileControlSchema } from './control-schema.ts'
import { JSON_SCHEMA_DIALECT } from './declared-fields.ts'
import { limitSpeed } from './speed-limits.ts'

const speed = (maximum: number, unit: string) =>
  ({ type: 'number', minimum: -maximum, maximum, 'x-unit': unit, 'x-speed': true }) as const
const schema = ControlSchema.parse({
  $schema: JSON_SCHEMA_DIALECT,
  type: 'object',
  properties: {
    base: {
      type: 'object',
      properties: { linear: { type: 'object', properties: { x: speed(2, 'm/s'), y: speed(1, 'm/s') } } },
    },
    joint_velocities: { type: 'array', items: speed(3, 'rad/s'), minItems: 2, maxItems: 2 },
    gripper: { type: 'number', minimum: 0, maximum: 1 },
    mode: { type: 'string', enum: ['fast', 'slow'] },
    clutch: { type: 'boolean', title: 'Clutch', description: 'Hold it to move' },
    buttons: { type: 'integer', minimum: 0, maximum: 255 },
  },
  required: ['base'],
  additionalProperties: false,
})
const command = {
  base: { linear: { x: 2, y: -0.25 } },
  joint_velocities: [-3, 0.5],
  gripper: 1,
  mode: 'fast',
}

describe('a control schema', () => {
  const properties = (field: unknown) => ({ type: 'object', properties: { a: field } })
  const nested = (levels: number): unknown =>
    levels === 0 ? { type: 'boolean' } : properties(nested(levels - 1))
  test.each([
    ['an unknown keyword', properties({ type: 'number', multipleOf: 2 })],
    ['a pattern', properties({ type: 'string', pattern: '(a+)+$' })],
    ['a reference', properties({ $ref: 'https://example.com/schema' })],
    ['a combinator', { type: 'object', properties: {}, anyOf: [] }],
    ['a name that is not one', { type: 'object', properties: { 'a b': { type: 'boolean' } } }],
    ['a minimum above the maximum', properties({ type: 'number', minimum: 1, maximum: 0 })],
    ['a speed without bounds', properties({ type: 'number', 'x-speed': true })],
    ['a speed that cannot be 0', properties({ type: 'number', 'x-speed': true, minimum: 1, maximum: 2 })],
    ['a rate of 0', properties({ type: 'number', 'x-max-rate': 0 })],
    ['an integer with a rate', properties({ type: 'integer', 'x-max-rate': 1 })],
    [
      'two clutches in one object',
      {
        type: 'object',
        properties: Object.fromEntries(
          ['a', 'b'].map((name) => [name, { type: 'boolean', 'x-clutch': true }]),
        ),
      },
    ],
    ['a required field that is not declared', { ...properties({ type: 'boolean' }), required: ['b'] }],
    ['an array without a size', properties({ type: 'array', items: { type: 'number' } })],
    ['four levels of objects', nested(4)],
    ['a command that is not an object', { type: 'number' }],
    [
      'another dialect',
      { ...properties({ type: 'boolean' }), $schema: 'http://json-schema.org/draft-07/schema#' },
    ],
    [
      'more than 128 fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 129 }, (_, n) => [`f${n}`, { type: 'boolean' }])),
      },
    ],
    [
      'too many characters',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => [`f${n}`, { type: 'boolean', description: 'x'.repeat(500) }]),
        ),
      },
    ],
  ])('may not have %s', (_name, candidate) => {
    expect(ControlSchema.safeParse(candidate).success).toBe(false)
  })

  test('that is too large is refused before its structure is read', () => {
    const fields = (count: number, field: unknown) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, field])),
    })
    for (const large of [fields(1_000, {}), fields(20, { type: 'x'.repeat(1_000) })])
      expect(ControlSchema.safeParse(large).error?.issues).toMatchObject([{ path: [] }])
  })

  test('ignores a field with the name __proto__', () => {
    const text = '{"type":"object","properties":{"__proto__":{"type":"boolean"}}}'
    expect(ControlSchema.parse(JSON.parse(text))).toEqual({ type: 'object', properties: {} })
  })

  test('may have three levels of objects', () => {
    expect(ControlSchema.safeParse(nested(3)).success).toBe(true)
  })
})

describe('the rules of a control schema', () => {
  const rules = compileControlSchema(schema)

  test.each([
    [command, undefined],
    [{}, /^base: /],
    [{ ...command, other: 1 }, /other/],
    [{ ...command, base: { linear: { x: 2.1 } } }, /^base\.linear\.x: /],
    [{ ...command, joint_velocities: [1] }, /^joint_velocities: /],
    [{ ...command, joint_velocities: [1, 'fast'] }, /^joint_velocities\.1: /],
    [{ ...command, mode: 'mad' }, /^mode: /],
    [{ ...command, clutch: 1 }, /^clutch: /],
    [{ ...command, buttons: 1.5 }, /^buttons: /],
    [[command], /./],
    [null, /./],
  ])('of %j give the problem %s', (data, problem) => {
    if (problem === undefined) expect(rules.problemOf(data)).toBeUndefined()
    else expect(rules.problemOf(data)).toMatch(problem)
  })

  test('stop at the first problem, and look at lengths and names before items', () => {
    const read: string[] = []
    /** Returns an array or an object that notes which of its fields are read. */
    const watched = <T extends object>(name: string, target: T): T =>
      new Proxy(target, {
        get(from, key) {
          if (typeof key === 'string' && key !== 'length') read.push(`${name}.${key}`)
          return Reflect.get(from, key)
        },
      })
    const tooLong = watched('joints', Array(8_000).fill(99))
    expect(rules.problemOf({ ...command, joint_velocities: tooLong })).toMatch(/^joint_velocities: /)
    const many = watched('command', {
      ...command,
      ...Object.fromEntries(
        Array(800)
          .fill(0)
          .map((_, n) => [`x${n}`, 9]),
      ),
    })
    expect(rules.problemOf(many)).toMatch(/^x0: /)
    expect(read.splice(0)).toEqual(['command.base']) // which is required
    expect(rules.problemOf({ ...command, joint_velocities: watched('joints', [99, 99]) })).toMatch(/\.0: /)
    expect(read).toEqual(['joints.0'])
  })

  test('agree with the meaning of JSON Schema', () => {
    const oracle = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
    const value = fc.oneof(
      fc.constantFrom(
        true,
        null,
        'fast',
        'slow',
        'x',
        [],
        {},
        [1, 2],
        { x: 1 },
        { linear: {} },
        { linear: { x: 1, z: 9 } },
      ),
      fc.integer({ min: -4, max: 4 }),
      fc.double({ min: -4, max: 4 }),
    )
    const fields = [...Object.keys(schema.properties), 'constructor', 'other']
    const some = fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 3 })
    fc.assert(
      fc.property(some, fc.boolean(), (changes, complete) => {
        const data = { ...(complete && command), ...changes }
        expect(rules.problemOf(data) === undefined).toBe(oracle.safeParse(data).success)
      }),
    )
  })

  test('clamp the speeds only, to the scale times their bounds', () => {
    const before = structuredClone(command)
    const expected = { ...command, base: { linear: { x: 0.5, y: -0.25 } }, joint_velocities: [-0.75, 0.5] }
    expect(rules.clamp(command, 0.25)).toEqual(expected)
    expect(command).toEqual(before)
    expect(limitSpeed({ data: command }, 0.25, rules)).toEqual({ data: expected, speed_scale: 0.25 })
    // A scale that the sender only claims to have applied does not help.
    expect(limitSpeed({ data: command, speed_scale: 0.1 }, 0.25, rules)).toEqual({
      data: expected,
      speed_scale: 0.1,
    })
    for (const data of [null, 3, [], 'x', { base: null }, { base: { linear: [1] } }])
      expect(rules.clamp(data, 0.5)).toEqual(data)
  })

  test('never allow a speed above the scale times its maximum, and a repeated clamp changes nothing', () => {
    const scale = fc.double({ min: 0.05, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.double({ noNaN: true }), scale, (x, speedScale) => {
        const once = rules.clamp({ base: { linear: { x } } }, speedScale) as typeof command
        expect(Math.abs(once.base.linear.x)).toBeLessThanOrEqual(2 * speedScale)
        expect(rules.clamp(once, speedScale)).toEqual(once)
      }),
    )
  })
})
