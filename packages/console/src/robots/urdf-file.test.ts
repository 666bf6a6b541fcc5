import { MAX_URDF_CHARS } from '@wheelhouse/sdk'
import { expect, test } from 'vitest'
import { readUrdfFile } from './urdf-file.ts'

const urdf = (...parts: BlobPart[]) => new File(parts, 'arm.urdf')

test('a URDF file becomes both schemas', async () => {
  const joint = '<joint name="elbow" type="revolute"><limit lower="-1" upper="2" velocity="3"/></joint>'
  const { control, telemetry } = await readUrdfFile(urdf('<robot name="arm">', joint, '</robot>'))
  const elbow = { type: 'number', minimum: -1, maximum: 2, 'x-unit': 'rad' }
  expect(control.properties.joints).toMatchObject({ properties: { elbow: { ...elbow, 'x-max-rate': 3 } } })
  expect(telemetry.properties.joints).toMatchObject({ 'x-kind': 'joints', properties: { elbow } })
})

test('a problem is said with its line', async () => {
  const file = urdf('<robot name="arm">\n<xacro:include filename="joints.xacro"/>\n</robot>')
  await expect(readUrdfFile(file)).rejects.toThrow('The URDF was not used: line 2: this is a xacro file')
})

test('a file that is too large is refused before it is read', async () => {
  const file = urdf(new Uint8Array(MAX_URDF_CHARS + 1))
  file.text = () => Promise.reject(new Error('read'))
  await expect(readUrdfFile(file)).rejects.toThrow('A URDF has at most 4 MiB.')
})
