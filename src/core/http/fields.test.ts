import { expect, test } from 'vitest'
import { line } from './fields.ts'

const isLine = (text: string) => line(100).safeParse(text).success

test.each([
  ['a zero-width space', 'Rover\u200b7'],
  ['a word joiner', 'Rover\u20607'],
  ['a byte order mark', 'Rover\ufeff7'],
  ['tag characters', 'Rover 7\u{e0061}\u{e007f}'],
  ['a change of direction', 'Rover\u202e7'],
])('a name with %s is refused', (_, text) => expect(isLine(text)).toBe(false))

test.each([
  ['a joined emoji', '👩\u200d🔧'],
  ['Persian with its non-joiner', 'می\u200cخواهم'],
])('%s is a name', (_, text) => expect(isLine(text)).toBe(true))
