import { expect, test } from 'vitest'
import { compileControlSchema } from './control-schema.ts'
import { limitSpeed } from './speed-limits.ts'

const SCALE = 0.5

test.each([
  [
    'numbers',
    { linear_mps: 1, angular_radps: -2, gripper: 1 },
    { linear_mps: 0.5, angular_radps: -1, gripper: 1 },
  ],
  [
    'vectors',
    { linear: { x: 1, z: -2 }, angular: [0, 0, 1] },
    { linear: { x: 0.5, z: -1 }, angular: [0, 0, 0.5] },
  ],
])('%s are scaled, and the command declares it', (_, data, scaled) => {
  for (const rules of [null, undefined])
    expect(limitSpeed({ data }, SCALE, rules)).toEqual({ data: scaled, speed_scale: SCALE })
})

test.each([
  ['text', '1'],
  ['null', null],
  ['an infinite number', Number.POSITIVE_INFINITY],
  ['a text in a vector', { x: '1', y: 0 }],
  ['a text in an array', [0.5, 'fast'], [0.25, 'fast']],
  ['a long array', [1, 1, 1, 1]],
  ['a nested vector', { x: { value: 1 } }],
  ['another name in a vector', { x: 1, forward: 1 }, { x: 0.5, forward: 1 }],
] satisfies [string, unknown, unknown?][])(
  '%s as a speed is dropped for a robot without a schema, and otherwise passes without a claim',
  (_, linear: unknown, passed: unknown = linear) => {
    const command = { data: { linear, angular_radps: 1, gripper: 1 } }
    const readable = { angular_radps: 0.5, gripper: 1 }
    expect(limitSpeed(command, SCALE, null)).toEqual({ data: readable, speed_scale: SCALE })
    expect(limitSpeed(command, SCALE)).toEqual({ data: { ...readable, linear: passed } })
    expect(limitSpeed(command, 1, null), 'at full speed').toBe(command)
  },
)

test.each([
  ['no speeds', { gripper: 1 }],
  ['nested speeds', { twist: { linear: 1 } }],
  ['a list', [1, 2]],
  ['a text', 'forward'],
])('a command with %s passes unchanged, and declares no scale', (_, data) => {
  const command = { data }
  expect(limitSpeed(command, SCALE, null)).toBe(command)
})

test('with a schema, a command without its speeds declares no scale, and a speed that is no number is dropped', () => {
  const speed = { type: 'number', minimum: -1, maximum: 1, 'x-speed': true } as const
  const rules = compileControlSchema({
    type: 'object',
    properties: {
      base: { type: 'object', properties: { vx: speed }, additionalProperties: false },
      wheels: { type: 'array', items: speed, maxItems: 4 },
      gripper: { type: 'number' },
    },
    additionalProperties: false,
  })
  const gripper = { data: { gripper: 1 } }
  expect(limitSpeed(gripper, SCALE, rules)).toBe(gripper)
  const slow = { base: { vx: 0.4 } }
  expect(limitSpeed({ data: slow }, SCALE, rules)).toEqual({ data: slow, speed_scale: SCALE })
  const text = { base: { vx: '1' }, wheels: [1, '1', 1, 1], gripper: 1 }
  expect(limitSpeed({ data: text }, SCALE, rules)).toEqual({
    data: { base: {}, gripper: 1 },
    speed_scale: SCALE,
  })
})
