import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from './cursor.ts'

const id = randomUUID()
const forged = (...position: unknown[]) => Buffer.from(JSON.stringify(position)).toString('base64url')

describe('a cursor', () => {
  test('returns the value and the id with which it was made', () => {
    const at = new Date('2026-11-20T09:30:00.123Z')
    expect(decodeCursor(encodeCursor('-created_at', at, id), '-created_at', cursorValues.time)).toEqual({
      value: at.toISOString(),
      id,
    })
    expect(decodeCursor(encodeCursor('name', 'größe 😀', id), 'name', cursorValues.text).value).toBe(
      'größe 😀',
    )
  })

  test.each([
    ['garbage', '§§§'],
    ['another order', encodeCursor('name', 'a', id)],
    ['another type', forged('-created_at', 7, id)],
    ['a time that PostgreSQL rejects', forged('-created_at', '0000-01-01T00:00:00Z', id)],
    ['another id', forged('-created_at', '2026-11-20T09:30:00Z', 'x')],
    ['nothing', forged()],
    ['no list', Buffer.from('{"a":1}').toString('base64url')],
  ])('is refused when it is %s', (_what, cursor) => {
    expect(() => decodeCursor(cursor, '-created_at', cursorValues.time)).toThrow(/^cursor: must be/)
  })

  test('is refused when its text is not storable', () => {
    for (const text of ['a\0', '\ud800'])
      expect(() => decodeCursor(forged('name', text, id), 'name', cursorValues.text)).toThrow(/^cursor/)
  })
})

test('a page has a following one when a row more was read', () => {
  expect(pageOf([1, 2, 3], 2)).toEqual({ page: [1, 2], last: 2 })
  expect(pageOf([1, 2], 2)).toEqual({ page: [1, 2], last: undefined })
  expect(pageOf([], 2)).toEqual({ page: [], last: undefined })
})
