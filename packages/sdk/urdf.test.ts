import { compileTelemetrySchema } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { controlSchemaOfUrdf, readUrdf, telemetrySchemaOfUrdf, UrdfError } from './urdf.ts'

const arm = `<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY big "bbbbbbbbbbbb">]>
<robot name="arm" xmlns:xacro="http://ros.org/wiki/xacro">
  <link name="base"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <joint name="shoulder_pan" type="revolute">
    <parent link="base"/><child link="shoulder"/>
    <limit lower="-1.5" upper=" 1.5" velocity="3.14" effort="10"/>
  </joint>
  <joint name="wrist" type="continuous"><limit effort="1" velocity="0"/></joint>
  <joint name="lift" type="prismatic"><limit upper="0.4" velocity="0.1" effort="9"/></joint>
  <joint name="camera" type="fixed"/>
  <joint name="finger_right" type="prismatic"><limit lower="0" upper="1" velocity="1"/><mimic joint="finger_left"/></joint>
  <transmission name="t"><joint name="shoulder_pan"><limit lower="9"/></joint></transmission>
</robot>`

test('the joints of a URDF are those that move by themselves, with their limits', () => {
  expect(readUrdf(arm)).toEqual([
    { name: 'shoulder_pan', type: 'revolute', lower: -1.5, upper: 1.5, velocity: 3.14 },
    { name: 'wrist', type: 'continuous' },
    { name: 'lift', type: 'prismatic', lower: 0, upper: 0.4, velocity: 0.1 },
  ])
})

test('they become a control schema with positions, rates and a clutch', () => {
  const { properties } = controlSchemaOfUrdf(arm)
  expect(properties.clutch).toMatchObject({ type: 'boolean', 'x-clutch': true })
  expect(properties.joints).toEqual({
    type: 'object',
    properties: {
      shoulder_pan: { type: 'number', minimum: -1.5, maximum: 1.5, 'x-unit': 'rad', 'x-max-rate': 3.14 },
      wrist: { type: 'number', 'x-unit': 'rad', 'x-max-rate': 0.5 },
      lift: { type: 'number', minimum: 0, maximum: 0.4, 'x-unit': 'm', 'x-max-rate': 0.1 },
    },
    additionalProperties: false,
  })
})

test('they become a telemetry schema with the same names, units and limits, which allows other joints', () => {
  const schema = telemetrySchemaOfUrdf(arm)
  expect(schema.properties.joints).toEqual({
    type: 'object',
    'x-kind': 'joints',
    properties: {
      shoulder_pan: { type: 'number', minimum: -1.5, maximum: 1.5, 'x-unit': 'rad' },
      wrist: { type: 'number', 'x-unit': 'rad' },
      lift: { type: 'number', minimum: 0, maximum: 0.4, 'x-unit': 'm' },
    },
  })
  const { problemOf } = compileTelemetrySchema(schema)
  expect(problemOf({ joints: { shoulder_pan: 1, lift: 0.2, finger_right: 3 } })).toBeUndefined()
  expect(problemOf({ joints: { lift: 0.5 } })).toBe('joints.lift: must be at most 0.4')
})

describe('a document is refused with its line', () => {
  const robot = (inner: string) => `<robot name="r">\n${inner}\n</robot>`
  const joint = (limit: string) => robot(`<joint name="a" type="revolute"><limit ${limit}/></joint>`)
  test.each([
    ['that is no XML', 'robot: yes', /line 1/],
    ['with another root', '<sdf/>', /line 1: a URDF begins with <robot>/],
    ['that ends too early', '<robot>\n<joint name="a" type="revolute">', /line 2: unclosed tag/],
    [
      'with a limit that is no number',
      joint('lower="low" upper="1"'),
      /line 2: lower of a limit is not a number: low/,
    ],
    ['with a limit that is not finite', joint('lower="0" upper="1e999"'), /line 2: upper of a limit/],
    [
      'with limits that leave no position',
      joint('lower="2" upper="1"'),
      /line 2: the limits of a leave no position/,
    ],
    [
      'with an entity that it declares itself',
      `<!DOCTYPE robot [<!ENTITY x "y">]>\n<robot name="&x;"/>`,
      /line 2: undefined entity/,
    ],
    [
      'with too many joints',
      robot(Array.from({ length: 101 }, (_, n) => `<joint name="j${n}" type="continuous"/>`).join('')),
      /more than 100 movable joints/,
    ],
    [
      'with a name that no schema can have',
      robot('<link name="a"/>\n<joint name="1st" type="continuous"/>'),
      /line 3: the joint "1st" needs a name/,
    ],
    [
      'with two joints of one name',
      robot('<joint name="a" type="continuous"/>\n<joint name="a" type="prismatic"/>'),
      /line 3: two joints have the name a/,
    ],
    [
      'that is a xacro file',
      robot('<xacro:property name="width" value="0.2"/>'),
      /line 2: this is a xacro file. Expand it first: xacro robot.urdf.xacro/,
    ],
    [
      'with a macro of xacro in a joint',
      robot('<joint name="a" type="revolute">\n<xacro:limits joint="a"/>\n</joint>'),
      /line 3: this is a xacro file/,
    ],
    ['that is too large', ' '.repeat(5_000_000), /more than 4194304 characters/],
  ])('%s', (_name, xml, problem) => {
    expect(() => readUrdf(xml)).toThrow(problem)
  })

  test.each([
    ['control', controlSchemaOfUrdf],
    ['telemetry', telemetrySchemaOfUrdf],
  ])('that has no movable joint, or too long ones for a %s schema', (_kind, schemaOf) => {
    expect(() => schemaOf(robot('<joint name="a" type="fixed"/>'))).toThrow('no movable joint')
    const limit = '<limit lower="-1.2345678901234567e-100" upper="1.2345678901234567e-100" velocity="1"/>'
    const long = Array.from(
      { length: 100 },
      (_, n) => `<joint name="${'j'.repeat(62)}${n}" type="prismatic">${limit}</joint>`,
    )
    const xml = robot(long.join(''))
    expect(readUrdf(xml)).toHaveLength(100)
    expect(() => schemaOf(xml)).toThrow(
      new UrdfError('the schema of its joints must have at most 16384 characters as JSON'),
    )
  })
})
