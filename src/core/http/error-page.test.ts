import { expect, test } from 'vitest'
import { onThisSite } from './error-page.ts'

test.each([
  ['/dashboard?a=//b', '/dashboard?a=//b'],
  ['//other.example/path', '/other.example/path'],
  ['/\\\\other.example', '/other.example'],
])('the link that repeats the request %s stays on this site', (url, link) => {
  expect(onThisSite(url)).toBe(link)
  expect(new URL(link, 'https://hub.example').host).toBe('hub.example')
})
