import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let page: { response: Response; text: string }
beforeAll(async () => {
  world = await createWorld()
  const response = await get('/api/docs')
  page = { response, text: await response.text() }
})
afterAll(() => world[Symbol.asyncDispose]())

const get = (path: string, init?: RequestInit) => fetch(world.baseUrl + path, init)
/** Returns the addresses of everything that a browser loads for the page. */
const assets = () =>
  [...page.text.matchAll(/<(?:script|link)[^>]*\b(?:src|href)="([^"]*)"/g)].map((match) => match[1] as string)

test('the docs page loads only files of this origin, with the right types', async () => {
  expect(page.response.status).toBe(200)
  expect(page.response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
  expect(assets()).toHaveLength(4)
  for (const path of assets()) {
    expect(path).toMatch(/^\/api\/docs\/[\w.-]+$/)
    const asset = await get(path, { headers: { 'Accept-Encoding': 'identity' } })
    expect(asset.status, path).toBe(200)
    const type = { css: 'text/css', js: 'text/javascript', png: 'image/png' }[path.split('.').at(-1) as 'css']
    expect(asset.headers.get('Content-Type'), path).toContain(type)
    expect(asset.headers.get('X-Content-Type-Options'), path).toBe('nosniff')
    const bytes = await asset.arrayBuffer()
    expect(bytes.byteLength, path).toBe(Number(asset.headers.get('Content-Length')))
    // A style sheet loads only data that it contains.
    if (path.endsWith('.css')) {
      const loaded = new TextDecoder().decode(bytes).matchAll(/url\(["']?([^)]{0,5})|@import/g)
      for (const [, start] of loaded) expect(start).toBe('data:')
    }
  }
})

test('the docs page may run the scripts of this origin and nothing inline', () => {
  const policy = page.response.headers.get('Content-Security-Policy')
  expect(policy?.split('; ').sort()).toEqual(
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "font-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].sort(),
  )
  for (const [tag, content] of page.text.matchAll(/<script[^>]*>([^<]*)/g)) {
    expect(tag).toContain(' src="')
    expect(content).toBe('')
  }
  expect(page.text).not.toMatch(/ on\w+=/)
})

test('the docs page shows the description of this origin, and sends it to no other server', async () => {
  const started: Record<string, unknown>[] = []
  const script = await (await get('/api/docs/init.js')).text()
  const classes = new Set<string>()
  runInNewContext(script, {
    SwaggerUIBundle: (options: Record<string, unknown>) => started.push(options),
    matchMedia: (media: string) => ({ matches: media.includes('dark'), addEventListener: () => {} }),
    document: { documentElement: { classList: { toggle: (name: string) => classes.add(name) } } },
  })
  expect([...classes]).toEqual(['dark-mode'])
  expect(started).toMatchObject([{ url: '/api/openapi.json', dom_id: '#swagger-ui', validatorUrl: null }])
  expect(page.text).toContain('id="swagger-ui"')
  expect(await (await get(started[0]?.url as string)).json()).toMatchObject({ openapi: '3.1.1' })
})

test('the bundle contains its license', async () => {
  const head = (await (await get('/api/docs/swagger-ui-bundle.js')).text()).slice(0, 200)
  const license = /[\w.-]+\.LICENSE\.txt/.exec(head)?.[0]
  expect((await get(`/api/docs/${license}`)).status).toBe(200)
})

test('a file that the browser has cached is not sent again', async () => {
  const path = '/api/docs/swagger-ui-bundle.js'
  const first = await get(path)
  expect(first.headers.get('Cache-Control')).toBe('no-cache')
  await first.arrayBuffer()
  const headers = { 'If-None-Match': first.headers.get('ETag') as string, 'Cache-Control': 'max-age=0' }
  const again = await get(path, { headers })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test('HEAD has the headers of GET', async () => {
  for (const path of ['/api/docs', '/api/docs/init.js', '/api/docs/swagger-ui.css']) {
    const [head, full] = [await get(path, { method: 'HEAD' }), await get(path)]
    expect([head.status, await head.text()]).toEqual([200, ''])
    for (const name of ['Content-Type', 'Content-Length', 'Content-Security-Policy', 'ETag']) {
      expect(head.headers.get(name), `${path} ${name}`).toBe(full.headers.get(name))
    }
    await full.arrayBuffer()
  }
})

test.each([
  '/api/docs/',
  '/api/docs/package.json',
  '/api/docs/swagger-ui-bundle.js.map',
  '/api/docs/..%2Fpackage.json',
  '/api/docs/%2e%2e/%2e%2e/package.json',
  '/api/docs/swagger-ui.css/',
  '/api/docs//swagger-ui.css',
  '/api/docs/swagger-ui.css%00',
])('%s is no file of the page', async (path) => {
  const answer = await get(path)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toEqual({ error: 'Route not found' })
})

test('the page is read-only', async () => {
  for (const path of ['/api/docs', '/api/docs/init.js']) {
    const answer = await get(path, { method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(await answer.json()).toEqual({ error: 'POST is not allowed here. Use GET or HEAD.' })
  }
})
