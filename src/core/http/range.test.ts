import { expect, test } from 'vitest'
import { parseRange } from './range.ts'

test.each([
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=0-99', { start: 0, end: 99 }],
  ['bytes=10-19', { start: 10, end: 19 }],
  ['bytes=90-', { start: 90, end: 99 }],
  ['bytes=99-99', { start: 99, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-100', { start: 0, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=50-1000', { start: 50, end: 99 }],
  ['bytes=0-99999999999999999999999', { start: 0, end: 99 }],
  ['BYTES=0-9', { start: 0, end: 9 }],
  ['bytes= 0-9 ', { start: 0, end: 9 }],
])('%s selects a part of 100 bytes', (header, range) => {
  expect(parseRange(header, 100)).toEqual(range)
})

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=99999999999999999999999-'])(
  '%s selects nothing of 100 bytes',
  (header) => expect(parseRange(header, 100)).toBe('unsatisfiable'),
)

test.each([
  '',
  'bytes',
  'bytes=',
  'bytes=-',
  'bytes=9-0',
  'bytes=0-1,5-6',
  'items=0-9',
  'bytes=a-b',
  'bytes=1.5-2',
])('%j selects the whole', (header) => expect(parseRange(header, 100)).toBeUndefined())

test('no part of an empty object exists', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-5', 'bytes=-0']) {
    expect(parseRange(header, 0)).toBe('unsatisfiable')
  }
  expect(parseRange('', 0)).toBeUndefined()
})
