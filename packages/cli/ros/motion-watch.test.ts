import { expect, test } from 'vitest'
import { parseConfig } from './config.ts'
import { MotionWatch } from './motion-watch.ts'

const settings = `
source: { type: ros1, url: http://localhost:11311 }
control:
  - { topic: /cmd_vel, type: geometry_msgs/Twist, fields: { linear.x: v } }
  - { topic: /arm, type: std_msgs/Float64MultiArray, joints: { a: joints.a } }
telemetry:
  - { topic: /odom, type: nav_msgs/Odometry }
  - { topic: /joint_states, type: sensor_msgs/JointState }
`
const odometry = (x: number) => ({ twist: { twist: { linear: { x } } } })
const joints = (...velocity: number[]) => ({
  name: ['a', 'b'].slice(0, velocity.length),
  position: velocity,
  velocity,
})

test('a robot has halted when all that measure it have said so for a while, and still say so', () => {
  const watch = new MotionWatch(parseConfig(settings, 'robot.yaml'))
  const base = (x: number, nowMs: number) => watch.read('/odom', 'nav_msgs/Odometry', odometry(x), nowMs)
  const arm = (speed: number, nowMs: number) =>
    watch.read('/joint_states', 'sensor_msgs/JointState', joints(speed), nowMs)
  expect(watch.hasHalted(0), 'nothing is known').toBe(false)
  for (const nowMs of [0, 60, 120]) {
    base(0, nowMs)
    arm(1, nowMs)
  }
  expect(watch.hasHalted(120), 'the arm moves').toBe(false)
  for (const nowMs of [2_000, 2_060, 2_120]) arm(0, nowMs)
  expect(watch.hasHalted(2_120), 'the base has been silent since').toBe(false)
  base(0, 2_150)
  expect(watch.hasHalted(2_150)).toBe(true)
  watch.restart()
  expect(watch.hasHalted(2_150), 'nothing was measured after the stop').toBe(false)
})

test('the positions are those of the driven joints, while they are fresh', () => {
  const watch = new MotionWatch(parseConfig(settings, 'robot.yaml'))
  watch.read('/joint_states', 'sensor_msgs/JointState', joints(0.5, 0.7), 0)
  expect([...watch.jointPositions(500)]).toEqual([['a', 0.5]])
  expect(watch.jointPositions(1_500).size).toBe(0)
})
