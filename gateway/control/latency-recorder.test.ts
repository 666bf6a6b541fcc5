import { expect, test } from 'vitest'
import { createLatencyRecorder } from './latency-recorder.ts'

const answered = () => true

test('the path has the shortest way to the operator, and the shorter one of the last two to the robot', () => {
  const recorder = createLatencyRecorder()
  recorder.operatorMeasured(40, 0)
  recorder.robotMeasured(60, 0)
  expect(recorder.pathMs()).toBe(50)
  recorder.operatorMeasured(400, 0)
  recorder.robotMeasured(460, 0) // one packet was sent again
  expect(recorder.pathMs()).toBe(50)
  recorder.robotMeasured(480, 0)
  expect(recorder.pathMs()).toBe(250)
})

test('a robot that does not answer makes the path longer at once', () => {
  const recorder = createLatencyRecorder()
  recorder.robotMeasured(60, 0)
  recorder.robotMeasured(60, 0)
  recorder.measure(1_000, { operator: answered, robot: answered })
  recorder.measure(2_000, { operator: answered, robot: answered })
  expect(recorder.pathMs()).toBe(500)
})

test('the speed follows the newest round trips', () => {
  const recorder = createLatencyRecorder()
  recorder.operatorMeasured(40, 0)
  recorder.robotMeasured(60, 0)
  recorder.robotMeasured(460, 0)
  expect(recorder.currentPathMs(0)).toBe(250)
})
