import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPlainHeartbeat } from './robot-frames.ts'

test.each([
  ['{"type":"heartbeat"}', {}],
  ['{"type":"heartbeat","seq":0}', { seq: 0 }],
  ['{"type": "heartbeat", "seq": 17, "battery": 0.8421}', { seq: 17, battery: 0.8421 }],
  ['{"type":"heartbeat","battery":1}', { battery: 1 }],
])('%s is read without a parser', (text, expected) => {
  expect(readPlainHeartbeat(text)).toEqual(expected)
})

test.each([
  '{"type":"heartbeat","seq":01}',
  '{"type":"heartbeat","seq":-1}',
  '{"type":"heartbeat","seq":1e3}',
  '{"type":"heartbeat","seq":1,}',
  '{"type":"heartbeat","seq":1}x',
  '{"type":"heartbeat","battery":1.}',
  '{"type":"heartbeat","battery":2}',
  '{"type":"heartbeat","mood":"fine"}',
  '{"type":"telemetry","data":{"type":"heartbeat"}}',
  '[{"type":"heartbeat"}]',
])('%s is left to the parser', (text) => {
  expect(readPlainHeartbeat(text)).toBeUndefined()
})

test('a frame that is read means what JSON.parse makes of it', () => {
  const field = fc.oneof(
    fc.constantFrom('', '"seq":1', '"seq": 9007199254740993', '"battery":0.5', '"battery": 1.0', '"x":1'),
    fc.nat().map((seq) => `"seq":${seq}`),
    fc.double().map((battery) => `"battery":${battery}`),
  )
  fc.assert(
    fc.property(fc.array(field, { maxLength: 3 }), fc.constantFrom(',', ', '), (fields, separator) => {
      const text = `{"type":"heartbeat"${fields.map((text) => separator + text).join('')}}`
      const read = readPlainHeartbeat(text)
      if (read) expect({ type: 'heartbeat', ...read }).toEqual(JSON.parse(text))
    }),
  )
})
