import { expect, test } from 'vitest'
import { goalStatusType, parseConfig } from './config.ts'

const source = 'source: { type: ros1, url: http://localhost:11311 }\n'
const base = `${source}control:
  - topic: /cmd_vel
    type: geometry_msgs/msg/Twist
    fields: { linear.x: linear_mps, angular.z: angular_radps }
`

test('types of ROS 2 are those of ROS 1, and settings have defaults', () => {
  const { control, stop } = parseConfig(base, 'robot.yaml')
  expect(control[0]).toMatchObject({ type: 'geometry_msgs/Twist', rate_hz: 50, frame_id: 'base_link' })
  expect(stop).toEqual({ linear_mps: 0.01, angular_radps: 0.02, joint_radps: 0.02 })
})

test('names: a topic gets its slash, and joints may have the names that schemas allow', () => {
  const joint = `left/épaule_${'x'.repeat(50)}`
  const arm = `\n  - { topic: arm, type: std_msgs/Float64MultiArray, joints: { "${joint}": "joints.${joint}" } }`
  const { control } = parseConfig(base.replace('/cmd_vel', 'cmd_vel').trimEnd() + arm, 'robot.yaml')
  expect(control.map(({ topic }) => topic)).toEqual(['/cmd_vel', '/arm'])
})

test('a goal is in the map, and its statuses have the type of its way to cancel it', () => {
  const goalOf = (text: string) => parseConfig(base.replace('ros1', 'rosbridge') + text, 'robot.yaml').goal
  const ros1 = goalOf('goal: { topic: goal, cancel_topic: cancel, status_topic: status }')
  expect(ros1).toEqual({ topic: '/goal', cancel_topic: '/cancel', status_topic: '/status', frame: 'map' })
  expect(ros1 && goalStatusType(ros1)).toBe('actionlib_msgs/GoalStatusArray')
  const ros2 = goalOf('goal: { topic: goal, cancel_service: cancel, frame: odom }')
  expect(ros2?.frame).toBe('odom')
  expect(ros2 && goalStatusType(ros2)).toBe('action_msgs/GoalStatusArray')
})

test.each([
  ['no source', 'control: []', 'robot.yaml:1: source must be a group of settings'],
  ['a rate', `${base}    rate_hz: 900`, 'robot.yaml:6: control[0].rate_hz must be from 5 to 200'],
  ['an unknown setting', `${base}    colour: red`, 'robot.yaml:6: control[0].colour is not a known setting'],
  [
    'another type',
    base.replace('geometry_msgs/msg/Twist', 'std_msgs/String'),
    'robot.yaml:4: control[0].type must be one of geometry_msgs/Twist',
  ],
  [
    'no fields',
    base.replace(/ {4}fields.*\n/, ''),
    'robot.yaml:3: control[0] needs fields for geometry_msgs/Twist',
  ],
  [
    'joints of a base',
    `${base}    joints: { a: b }`,
    'control[0].joints is not a setting of geometry_msgs/Twist',
  ],
  ['a text for a list', `${source}telemetry: all`, 'robot.yaml:2: telemetry must be a list'],
  [
    'a topic twice',
    `${base}${base.split('\n').slice(2).join('\n')}`,
    'control[1] repeats the topic /cmd_vel',
  ],
  [
    'a field twice',
    `${source}telemetry:\n  - { topic: /a, type: nav_msgs/Odometry }\n  - { topic: /b, type: tf2_msgs/TFMessage }`,
    'repeats the field pose',
  ],
  [
    'an unmeasured stop',
    `${base}stop: { halted_by: [/odom] }`,
    'stop.halted_by[0] must be a topic of telemetry',
  ],
  [
    'a goal without an end',
    `${base}goal: { topic: /goal_pose }`,
    'robot.yaml:6: goal needs cancel_topic or cancel_service',
  ],
  [
    'two ends of a goal',
    `${base}goal: { topic: /goal_pose, cancel_topic: /cancel, cancel_service: /cancel_goal }`,
    'goal needs cancel_topic or cancel_service, one of them',
  ],
  [
    'a service of ROS 1',
    `${base}goal:\n  topic: /goal_pose\n  cancel_service: /cancel_goal`,
    'robot.yaml:8: goal.cancel_service cannot be called with ros1: write cancel_topic',
  ],
  [
    'a list of frames',
    `${base}goal:\n  topic: /goal_pose\n  cancel_topic: /cancel\n  frames: [map]`,
    'robot.yaml:9: goal.frames is not a setting any more: write one frame, such as frame: map',
  ],
  ['aliases', `a: &a 1\nb: *a`, 'aliases (*name) are not supported'],
  ['a key twice', `${source}${source}`, 'robot.yaml:2: Map keys must be unique'],
  ['no YAML', 'control: [', 'robot.yaml:1: '],
  ['an empty file', '', 'source must be a group of settings'],
])('%s is refused with its line', (_name, text, message) => {
  expect(() => parseConfig(text, 'robot.yaml')).toThrow(message)
})
