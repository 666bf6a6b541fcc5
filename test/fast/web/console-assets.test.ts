import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Koa from 'koa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consolePage } from '../../../src/roles/api/site/console-page.ts'
import { ensureConsole } from '../../support/browser/console.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const built = fileURLToPath(new URL('../../../packages/console/dist/assets', import.meta.url))
let world: World

beforeAll(async () => {
  world = await createWorld()
  await ensureConsole()
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

const get = (path: string, headers: Record<string, string> = {}) => fetch(world.baseUrl + path, { headers })

test.each(['/dashboard', '/dashboard/', '/dashboard/settings', '/dashboard/robots/anything'])(
  '%s serves the page with no-store',
  async (path) => {
    const answer = await get(path, { Cookie: '__session=any' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(await answer.text()).toContain('<div id="root">')
  },
)

test('a browser without a session gets a sign-in page that needs no other file and returns to the requested page', async () => {
  const answer = await get('/dashboard/robots/a?tab=live&x="y"', { 'Accept-Encoding': 'br' })
  expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  expect(answer.headers.get('Content-Encoding')).toBe('br')
  expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
  const text = await answer.text()
  expect(text).not.toMatch(/<script|<link rel="stylesheet|src="(?!data:)/)
  const link = /href="(\/auth\/login[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') as string
  expect(new URL(link, world.baseUrl).searchParams.get('return_to')).toBe(
    '/dashboard/robots/a?tab=live&x=%22y%22',
  )
})

test('the service worker keeps its address, may serve all pages of the console, and is not cached', async () => {
  const answer = await get('/dashboard/push-worker.js')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/javascript/)
  expect(answer.headers.get('Cache-Control')).toBe('no-cache')
  expect(answer.headers.get('Service-Worker-Allowed')).toBe('/dashboard')
  expect(answer.headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  const script = await answer.text()
  expect(script).toContain('notificationclick')
  expect(script).not.toMatch(/\bimport\b/) // a worker of this kind has no modules
})

test('an asset is immutable and served in the best accepted encoding', async () => {
  const name = readdirSync(built).find((file) => /^index-.*\.js$/.test(file))
  const sizes = []
  const texts = new Set<string>()
  for (const encoding of ['br', 'gzip', 'identity']) {
    const answer = await get(`/dashboard/assets/${name}`, { 'Accept-Encoding': encoding })
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('Content-Encoding') ?? 'identity').toBe(encoding)
    expect(answer.headers.get('Vary')).toContain('Accept-Encoding')
    expect(answer.headers.get('Content-Type')).toMatch(/^text\/javascript/)
    sizes.push(Number(answer.headers.get('Content-Length')))
    texts.add(await answer.text())
  }
  expect(texts.size).toBe(1)
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
})

test('assets of another build and files outside the assets folder are not found', async () => {
  for (const name of ['index-00000000.js', '..%2fstamp', '%2e%2e/stamp', '.hidden', '']) {
    const answer = await get(`/dashboard/assets/${name}`)
    const text = await answer.text()
    // The client normalizes a path with "..", which then serves the page.
    expect(text.includes('href="/auth/login') || answer.status === 404, `${name}: ${text}`).toBe(true)
  }
  expect((await get('/dashboard/assets/index-00000000.js')).status).toBe(404)
})

test('without a build the page explains how to build the console', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'wheelhouse-console-'))
  const server = createServer(
    new Koa().use(consolePage({ baseUrl: world.baseUrl, folder: empty })).callback(),
  ).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/dashboard`)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('npm run build:console')
  } finally {
    server.close()
    await rm(empty, { recursive: true })
  }
})
