import { expect, test } from 'vitest'
import { haltOf, measuredCommand, messageOf } from './commands.ts'
import { type ControlEntry, parseConfig } from './config.ts'

const entryOf = (settings: string): ControlEntry =>
  parseConfig(
    `source: { type: ros1, url: http://localhost:11311 }\ncontrol:\n  - { topic: /x, ${settings} }`,
    'robot.yaml',
  ).control[0] as ControlEntry

const zero = { x: 0, y: 0, z: 0 }
const stamp = { sec: 1, nsec: 500_000_000, nanosec: 500_000_000, secs: 1, nsecs: 500_000_000 }
const twist = 'type: geometry_msgs/Twist, fields: { linear.x: v, angular.z: turn.w }, limits: { v: 0.5 }'
const stamped = twist.replace('Twist', 'TwistStamped')
const joy = 'type: sensor_msgs/Joy, axes: [v, w], buttons: [horn]'
const trajectory =
  'type: trajectory_msgs/JointTrajectory, joints: { a: joints.0, b: joints.1 }, reach_ms: 1500'
const speeds = 'type: std_msgs/Float64MultiArray, joints: { a: joints.0, b: joints.1 }'
const positions = `${speeds}, mode: position`

test.each([
  [twist, { v: 2, turn: { w: -1 } }, { linear: { ...zero, x: 0.5 }, angular: { ...zero, z: -1 } }],
  [twist, { arm: 1 }, { linear: zero, angular: zero }],
  [
    stamped,
    { v: -9 },
    {
      header: { stamp, frame_id: 'base_link' },
      twist: { linear: { ...zero, x: -0.5 }, angular: zero },
    },
  ],
  [joy, { w: 1, horn: true }, { header: { stamp, frame_id: 'base_link' }, axes: [0, 1], buttons: [1] }],
  [
    trajectory,
    { joints: [1, 2] },
    { joint_names: ['a', 'b'], points: [{ positions: [1, 2], time_from_start: stamp }] },
  ],
  [speeds, { joints: [1, 2] }, { data: [1, 2] }],
  [speeds, { v: 1 }, undefined],
])('the message of %s for %j', (settings, data, message) => {
  expect(messageOf(entryOf(settings), data, 1_500)).toEqual(message)
})

test.each([
  [twist, { v: 'fast' }, 'v is not a usable number'],
  [twist, { v: Number.NaN }, 'v is not a usable number'],
  [twist, { v: 1e9 }, 'v is not a usable number'],
  [twist, { v: null }, 'v is not a usable number'],
  [speeds, { joints: [1] }, 'the command lacks the joint b'],
])('%s refuses %j', (settings, data, problem) => {
  expect(() => messageOf(entryOf(settings), data, 0)).toThrow(problem)
})

const measured = new Map([
  ['a', 0.1],
  ['b', 0.2],
  ['c', 9],
])
test.each([
  [twist, measured, { linear: zero, angular: zero }],
  [joy, measured, { header: { stamp, frame_id: 'base_link' }, axes: [0, 0], buttons: [0] }],
  [
    trajectory,
    measured,
    { joint_names: ['a', 'b'], points: [{ positions: [0.1, 0.2], time_from_start: stamp }] },
  ],
  [trajectory, new Map([['a', 0.1]]), { joint_names: ['a', 'b'], points: [] }],
  [speeds, measured, { data: [0, 0] }],
  [positions, measured, { data: [0.1, 0.2] }],
  [positions, new Map(), undefined],
])('%s halts, measured at %j', (settings, joints, message) => {
  expect(haltOf(entryOf(settings), joints, 1_500)).toEqual(message)
})

test('measured joints have the form of a command', () => {
  expect(measuredCommand([entryOf(speeds), entryOf(twist)], measured)).toEqual({ joints: [0.1, 0.2] })
  const named = entryOf('type: std_msgs/Float64MultiArray, joints: { a: arm.a, z: arm.z }')
  expect(measuredCommand([named], measured)).toEqual({ arm: { a: 0.1 } })
})
