import { describe, expect, test } from 'vitest'
import { controlSchemaOfUrdf, readUrdf } from './urdf.ts'

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
      wrist: { type: 'number', 'x-unit': 'rad' },
      lift: { type: 'number', minimum: 0, maximum: 0.4, 'x-unit': 'm', 'x-max-rate': 0.1 },
    },
    additionalProperties: false,
  })
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
    ['that is too large', ' '.repeat(5_000_000), /more than 4194304 characters/],
  ])('%s', (_name, xml, problem) => {
    expect(() => readUrdf(xml)).toThrow(problem)
  })

  test('a schema needs joints, and names that it can have', () => {
    expect(() => controlSchemaOfUrdf(robot(''))).toThrow('no movable joint')
    expect(() => controlSchemaOfUrdf(robot('<joint name="1st" type="continuous"/>'))).toThrow('"1st"')
  })
})
