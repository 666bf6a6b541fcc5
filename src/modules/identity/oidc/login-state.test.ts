import { expect, test } from 'vitest'
import { safeReturnTo } from './login-state.ts'

const ORIGIN = 'http://localhost:3000'

test.each([
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/..//evil.example',
  '/.//evil.example/%2e%2e',
  'javascript:alert(1)',
  'http:evil.example',
  '@evil.example',
  '',
  undefined,
  ['/a', '/b'],
])('return_to=%j leads to an absolute URL of the platform', (requested) => {
  const target = safeReturnTo(ORIGIN, requested)
  expect(target).toMatch(/^http:\/\/localhost:3000\//)
  expect(new URL(target).origin).toBe(ORIGIN)
})

test('a path of the platform is kept, with its query', () => {
  expect(safeReturnTo(ORIGIN, '/dashboard/robots?x=1')).toBe(`${ORIGIN}/dashboard/robots?x=1`)
})
