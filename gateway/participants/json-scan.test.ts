import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endOfJson } from './json-scan.ts'

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
