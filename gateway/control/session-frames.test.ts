import ajv from '@redocly/ajv'
import { recordingTopics } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { topicDefinition } from '../../src/modules/recordings/mcap/topics.ts'
import { limitsFrame, stateFrame } from './session-frames.ts'

const validator = new ajv.default({ strict: false })

const { limits, latency, stop, telemetry } = recordingTopics
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
])('the schema of %s accepts its own message %s', (topic, frame) => {
  const validate = validator.compile(JSON.parse(Buffer.from(topicDefinition(topic).schema).toString()))
  expect(validate(JSON.parse(frame)), JSON.stringify(validate.errors)).toBe(true)
})

test('the schemas refuse messages without the required fields', () => {
  for (const topic of [limits, latency, stop]) {
    const validate = validator.compile(JSON.parse(Buffer.from(topicDefinition(topic).schema).toString()))
    expect(validate({ type: 'state' }), topic).toBe(false)
  }
})
