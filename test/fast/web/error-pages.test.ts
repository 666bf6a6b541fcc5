import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../../src/core/http/listener.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = (path: string, accept: string, init: RequestInit = {}) =>
  fetch(world.baseUrl + path, { ...init, headers: { Accept: accept, ...init.headers } })

test.each([
  ['/nothing', 404, 'Page not found', 'route_not_found'],
  ['/api/client/robots', 401, 'Sign in first', 'unauthenticated'],
  ['/dashboard/%', 400, 'The request failed', 'invalid_request'],
  ['/downloads/none.tgz', 404, 'Page not found', 'not_found'],
])('%s is a page for browsers and JSON for programs', async (path, status, title, code) => {
  const page = await ask(path, BROWSER)
  const text = await page.text()
  expect([page.status, page.headers.get('Wheelhouse-Error')]).toEqual([status, code])
  expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  expect(page.headers.get('Cache-Control')).toBe('no-store')
  expect(page.headers.get('Vary')).toMatch(/\bAccept(,|$)/)
  expect(text).toContain(`<h1>${title}</h1>`)
  expect(text).toContain(page.headers.get('X-Request-Id'))
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.9']) {
    const json = await ask(path, accept)
    expect([json.status, json.headers.get('Wheelhouse-Error')]).toEqual([status, code])
    expect(await json.json()).toEqual({ error: expect.any(String) })
  }
})

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Seite nicht gefunden', 'Unter /nothing gibt es keine Seite.'],
  ['en;q=0.8, de;q=0.9', 'de', 'Seite nicht gefunden', 'Startseite'],
  ['de;q=0, en', 'en', 'Page not found', 'Front page'],
  ['fr, xx', 'en', 'Page not found', 'There is no page at /nothing.'],
  ['"><script>', 'en', 'Page not found', 'Front page'],
])('a browser with Accept-Language %s reads an error page in %s', async (accepted, language, title, text) => {
  const page = await ask('/nothing', BROWSER, { headers: { 'Accept-Language': accepted } })
  const html = await page.text()
  expect(page.headers.get('Vary')).toMatch(/\bAccept-Language\b/)
  expect(html).toContain(`<html lang="${language}">`)
  expect(html).toContain(`<h1>${title}</h1>`)
  expect(html).toContain(text)
  expect(html).not.toContain('<script>')
})

test('a German error page marks a message of the API as English', async () => {
  const page = await ask('/api/client/robots', BROWSER, { headers: { 'Accept-Language': 'de' } })
  const html = await page.text()
  expect(html).toContain('<h1>Bitte melden Sie sich an</h1>')
  expect(html).toContain('<p class="lead" lang="en">')
})

test('an error page escapes the address', async () => {
  const answer = await raw(`GET /"><script>alert(1)</script> HTTP/1.1`)
  expect(answer).toMatch(/^HTTP\/1.1 404 /)
  expect(answer).toContain('Page not found')
  expect(answer).not.toContain('<script>')
})

test('HEAD of a missing page has its headers and no body', async () => {
  const head = await ask('/nothing', BROWSER, { method: 'HEAD' })
  expect([head.status, head.headers.get('Content-Type'), await head.text()]).toEqual([
    404,
    'text/html; charset=utf-8',
    '',
  ])
})

test('a platform that is starting shows browsers a page that reloads itself, and programs JSON', async () => {
  const listener = await listen('127.0.0.1', 0, 'PORT')
  try {
    const get = (accept: string) =>
      fetch(`http://127.0.0.1:${listener.port}/dashboard`, { headers: { Accept: accept } })
    const page = await get(BROWSER)
    expect([page.status, page.headers.get('Refresh')]).toEqual([503, '2'])
    expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'/)
    expect(await page.text()).toContain('<h1>Wheelhouse is starting</h1>')
    const json = await get('*/*')
    expect([json.status, json.headers.get('Wheelhouse-Error')]).toEqual([503, 'not_ready'])
    expect(await json.json()).toEqual({ error: 'The platform is starting. Retry shortly.' })
  } finally {
    await listener.close(1_000)
  }
})

/** Sends a request line that `fetch` would encode. */
function raw(line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.baseUrl).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', reject).on('close', () => resolve(answer))
    socket.write(`${line}\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n`)
  })
}
