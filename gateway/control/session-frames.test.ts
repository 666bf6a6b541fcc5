import { randomUUID } from 'node:crypto'
import ajv from '@redocly/ajv'
import { recordingTopics } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { topicDefinition } from '../../src/modules/recordings/mcap/topics.ts'
import { cancelGoalFrame, limitsFrame, stateFrame } from './session-frames.ts'

const validator = new ajv.default({ strict: false })

const { limits, latency, stop, telemetry, goal, autonomy } = recordingTopics
const place = { goal_id: 'dock', x: 1, y: -2.5, heading: 3 }
const sentGoal = {
  type: 'goal',
  session_id: randomUUID(),
  seq: 7,
  t: 1.5,
  ttl_ms: 250,
  frame: 'map',
  ...place,
}
const latched = {
  reason: 'a cat',
  latched: true,
  recorded: true,
  by_role: null,
  clearable_by: 'owner',
} as const
test.each([
  [limits, limitsFrame({ speed_scale: 0.5, reason: 'latency' })],
  [limits, limitsFrame({ speed_scale: 1, reason: null })],
  [latency, '{"type":"latency","operator_ms":12.5,"robot_ms":null}'],
  [stop, stateFrame('ACTIVE', true, null)],
  [stop, stateFrame('PAUSED', false, latched)],
  [telemetry, '{"type":"telemetry","data":{"x_m":1},"t":12.5,"extra":[1]}'],
  [telemetry, '{"type":"telemetry","data":null,"t":"noon"}'],
  [telemetry, '{"data_base64":"AAAA"}'],
  [goal, JSON.stringify(sentGoal)],
  [goal, JSON.stringify({ ...sentGoal, epoch: 2 })],
  [goal, cancelGoalFrame('dock')],
  [autonomy, '{"type":"autonomy","mode":"manual"}'],
  [
    autonomy,
    JSON.stringify({
      type: 'autonomy',
      mode: 'assisted',
      goal: { ...place, status: 'active', progress: 0.5 },
    }),
  ],
])('the schema of %s accepts its own message %s', (topic, frame) => {
  const validate = validator.compile(JSON.parse(Buffer.from(topicDefinition(topic).schema).toString()))
  expect(validate(JSON.parse(frame)), JSON.stringify(validate.errors)).toBe(true)
})

test('the schemas refuse messages without the required fields', () => {
  for (const topic of [limits, latency, stop, goal, autonomy]) {
    const validate = validator.compile(JSON.parse(Buffer.from(topicDefinition(topic).schema).toString()))
    expect(validate({ type: 'state' }), topic).toBe(false)
  }
})
