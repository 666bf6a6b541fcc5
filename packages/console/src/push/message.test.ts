import { describe, expect, test } from 'vitest'
import { consolePath, readMessage, showsPage } from './message.ts'

const ORIGIN = 'https://hub.example:8443'

describe('readMessage', () => {
  test('returns what a message shows', () => {
    const payload = {
      id: '7',
      tag: 'notification-7',
      title: 'Stopped',
      text: 'By Pat.',
      path: '/dashboard?session=1',
    }
    expect(readMessage(JSON.stringify(payload), ORIGIN)).toEqual({
      title: 'Stopped',
      text: 'By Pat.',
      tag: 'notification-7',
      path: '/dashboard?session=1',
    })
  })

  test.each([undefined, '', 'no JSON', 'null', '[]', '7', '{"title":7,"text":{},"path":[]}'])(
    'shows the host for the payload %s',
    (payload) =>
      expect(readMessage(payload, ORIGIN)).toEqual({
        title: 'hub.example:8443',
        text: '',
        tag: 'wheelhouse',
        path: '/dashboard',
      }),
  )

  test('limits the length of what it shows', () => {
    expect(readMessage(JSON.stringify({ title: 'x'.repeat(10_000) }), ORIGIN).title).toHaveLength(500)
  })
})

describe('consolePath', () => {
  test.each(['/dashboard', '/dashboard?session=1', '/dashboard/exports?export=1'])('keeps %s', (path) =>
    expect(consolePath(path, ORIGIN)).toBe(path),
  )

  test.each([
    'https://other.example/dashboard',
    '//other.example/dashboard',
    '\\\\other.example',
    'javascript:alert(1)',
    '/auth/logout',
    '/dashboards',
    '/dashboard/../api/docs',
    'https://',
    7,
    undefined,
  ])('replaces %s by the home page', (path) => expect(consolePath(path, ORIGIN)).toBe('/dashboard'))
})

describe('showsPage', () => {
  test.each([
    ['/dashboard', '/dashboard', true],
    ['/dashboard/sessions/abc', '/dashboard?session=abc', true],
    ['/dashboard/exports?export=abc', '/dashboard/exports?export=abc', true],
    ['/dashboard/sessions/abc', '/dashboard?session=abd', false],
    ['/dashboard/sessions/abc', '/dashboard', false],
    ['/dashboard/sessions/abcdef', '/dashboard?session=abc', false],
    ['/dashboard/settings', '/dashboard/exports?export=8443', false],
    ['/docs/abc', '/dashboard?session=abc', false],
  ])('a window at %s for %s: %s', (shown, wanted, expected) =>
    expect(showsPage(ORIGIN + shown, wanted)).toBe(expected),
  )
})
