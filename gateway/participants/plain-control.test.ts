import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endOfJson, readPlainControl } from './plain-control.ts'

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
      fc.option(
        fc.dictionary(
          fc.constantFrom('front', 'a-b_9', '7'),
          fc.nat().map((ms) => ms / 1_000),
          { minKeys: 1 },
        ),
      ),
      fc.jsonValue(),
      (seq, t, ttlMs, videoAgeMs, seen, data) => {
        const ttl = { ...(ttlMs !== null && { ttl_ms: ttlMs }) }
        const video = { ...(videoAgeMs !== undefined && { video_age_ms: videoAgeMs }) }
        const pictures = { ...(seen !== null && { seen }) }
        const fields = { type: 'control', seq, t, ...ttl, ...video, ...pictures, data }
        expect(readPlainControl(JSON.stringify(fields))).toEqual({
          seq,
          t,
          ttlMs: ttlMs ?? undefined,
          videoAgeMs,
          seen: seen === null ? undefined : JSON.stringify(seen),
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
    seen: undefined,
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
  ['a picture of no camera', '{"type":"control","seq":1,"t":1,"seen":{"Front view":1},"data":1}'],
  ['a picture without a time', '{"type":"control","seq":1,"t":1,"seen":{"front":null},"data":1}'],
  [
    'pictures of nine cameras',
    `{"type":"control","seq":1,"t":1,"seen":{${Array.from({ length: 9 }, (_, n) => `"c${n}":1`)}},"data":1}`,
  ],
  ['another type', '{"type":"stop","reason":"x"}'],
  ['a scale', '{"type":"control","seq":1,"t":1,"speed_scale":0.5,"data":1}'],
])('leaves a frame with %s to the schema', (_name, text) => {
  expect(readPlainControl(text)).toBeUndefined()
})

const MAX_DEPTH = 64
/** Parts of JSON and of what looks like it, one per word; spaces and control characters are added. */
const FRAGMENTS = [
  ...String.raw`{ } [ ] , : " "a" "\u00e9" "\x" \ - + . e E 0 1 12 01 1.5 -0 1e9 1E-2 1. .5 true false null nul é`.split(
    ' ',
  ),
  ' ',
  '\n',
  '\u0000',
  '"\n"',
]

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
const accepts = (text: string) => {
  const end = endOfJson(text, 0, MAX_DEPTH)
  return end >= 0 && text.slice(end).trim() === ''
}

test('accepts every JSON value, and returns its end', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(endOfJson(`x${text}]}`, 1, MAX_DEPTH)).toBe(1 + text.length)
    }),
    { numRuns: 2_000 },
  )
})

test('accepts what JSON.parse accepts, and nothing else', () => {
  const fragment = fc.constantFrom(...FRAGMENTS)
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 8 }), (fragments) => {
      const text = fragments.join('')
      expect(accepts(text), text).toBe(isJson(text))
    }),
    { numRuns: 20_000 },
  )
})

test('accepts what JSON.parse accepts after one change of valid JSON', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '0', '-', 'e', 'x', ' '),
      fc.boolean(),
      (value, position, change, replaces) => {
        const text = JSON.stringify(value)
        const at = position % (text.length + 1)
        const changed = text.slice(0, at) + change + text.slice(at + (replaces ? 1 : 0))
        expect(accepts(changed), changed).toBe(isJson(changed))
      },
    ),
    { numRuns: 20_000 },
  )
})

describe('a value that is nested', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  test('as deep as allowed is accepted', () => expect(accepts(nested(MAX_DEPTH))).toBe(true))
  test('deeper is rejected', () => expect(accepts(nested(MAX_DEPTH + 1))).toBe(false))
  test('100,000 levels deep is rejected', () => expect(accepts(nested(100_000))).toBe(false))
})
