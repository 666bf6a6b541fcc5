import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPlainControl } from './plain-control.ts'

const frame = (data: string) => `{"type":"control","seq":7,"t":12.5,"ttl_ms":250,"data":${data}}`

test('reads every control frame in the documented order, with the data unchanged', () => {
  const time = fc.oneof(
    fc.integer(),
    fc.integer({ min: 0, max: 1e12 }).map((ms) => ms / 1_000),
  )
  const videoAge = fc.oneof(
    fc.constantFrom(undefined, null),
    fc.nat({ max: 1e8 }),
    fc.integer({ min: 0, max: 1e8 }).map((ms) => ms / 1_000),
  )
  fc.assert(
    fc.property(
      fc.nat(),
      time,
      fc.option(fc.integer({ min: 1, max: 65_535 })),
      videoAge,
      fc.jsonValue(),
      (seq, t, ttlMs, videoAgeMs, data) => {
        const ttl = { ...(ttlMs !== null && { ttl_ms: ttlMs }) }
        const video = { ...(videoAgeMs !== undefined && { video_age_ms: videoAgeMs }) }
        const fields = { type: 'control', seq, t, ...ttl, ...video, data }
        expect(readPlainControl(JSON.stringify(fields))).toEqual({
          seq,
          t,
          ttlMs: ttlMs ?? undefined,
          videoAgeMs,
          data: JSON.stringify(data),
        })
      },
    ),
  )
  expect(readPlainControl('{"type": "control", "seq": 7, "t": 12.5, "data": {"a": 1}}')).toEqual({
    seq: 7,
    t: 12.5,
    ttlMs: undefined,
    videoAgeMs: undefined,
    data: '{"a": 1}',
  })
})

test.each([
  ['a field after the data', frame('1,"session_id":"other"')],
  ['the data twice', frame('1,"data":2')],
  ['a second frame', `${frame('1')}${frame('2')}`],
  ['invalid data', frame('{"a":tru}')],
  ['no data', frame('')],
  ['an end in the middle of a string', frame('"}')],
  ['data nested too deep', frame('['.repeat(64) + ']'.repeat(64))],
  ['an unsafe number', '{"type":"control","seq":9007199254740992,"t":1,"data":1}'],
  ['a leading zero', '{"type":"control","seq":01,"t":1,"data":1}'],
  ['a ttl out of range', '{"type":"control","seq":1,"t":1,"ttl_ms":65536,"data":1}'],
  ['a negative age of the picture', '{"type":"control","seq":1,"t":1,"video_age_ms":-1,"data":1}'],
  ['another type', '{"type":"stop","reason":"x"}'],
  ['a scale', '{"type":"control","seq":1,"t":1,"speed_scale":0.5,"data":1}'],
])('leaves a frame with %s to the schema', (_name, text) => {
  expect(readPlainControl(text)).toBeUndefined()
})
