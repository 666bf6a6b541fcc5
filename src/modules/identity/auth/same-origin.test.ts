import type { Context } from 'koa'
import { expect, test } from 'vitest'
import { createOriginGuard } from './same-origin.ts'

const OWN = 'http://localhost:3000'
const CONSOLE = 'https://console.example'
const requireAllowedOrigin = createOriginGuard({ baseUrl: `${OWN}/`, corsOrigins: [CONSOLE] })

const check = (method: string, headers: Record<string, string>) =>
  requireAllowedOrigin({ method, get: (name: string) => headers[name] ?? '' } as Context)

/** Headers that browsers send with requests of foreign pages. */
const hostile: [string, Record<string, string>][] = [
  ['no origin', {}],
  ['another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
  ['another site, in an old browser', { Origin: 'https://evil.example' }],
  ['a sibling site', { 'Sec-Fetch-Site': 'same-site', Origin: 'https://evil.localhost' }],
  ['a sibling site without an origin', { 'Sec-Fetch-Site': 'same-site' }],
  ['an opaque origin', { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
  ['an origin with the platform’s origin as prefix', { Origin: 'http://localhost.evil.example' }],
  ['the platform’s host with another port', { Origin: 'http://localhost:3001' }],
  ['an origin with an allowed origin as prefix', { Origin: `${CONSOLE}.evil.example` }],
  ['an allowed name over another scheme', { Origin: CONSOLE.replace('https', 'http') }],
  ['a referer only', { Referer: `${OWN}/dashboard` }],
  ['a method override', { 'X-HTTP-Method-Override': 'GET', Origin: 'https://evil.example' }],
]

test.each(hostile)('a change that names %s is refused, and a read is not', (_from, headers) => {
  for (const method of ['POST', 'PATCH', 'DELETE', 'PUT'])
    expect(() => check(method, headers), method).toThrow(
      expect.objectContaining({ status: 403, code: 'origin_not_allowed' }),
    )
  for (const method of ['GET', 'HEAD']) check(method, headers)
})

test.each([
  ['the platform’s pages', { 'Sec-Fetch-Site': 'same-origin', Origin: OWN }],
  ['the platform’s pages, in an old browser', { Origin: OWN }],
  ['the user (address bar)', { 'Sec-Fetch-Site': 'none' }],
  ['an allowed origin', { 'Sec-Fetch-Site': 'cross-site', Origin: CONSOLE }],
])('a change that names %s is allowed', (_from, headers) => check('POST', headers as Record<string, string>))
