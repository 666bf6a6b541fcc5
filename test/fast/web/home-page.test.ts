import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns the visible text of the status line. */
async function statusLine(baseUrl: string): Promise<string> {
  const html = await (await fetch(`${baseUrl}/`)).text()
  const [, line = ''] = /<p class="status[^"]*" role="status">([\s\S]*?)<\/p>/.exec(html) ?? []
  return line.replaceAll(/<[^>]+>/g, '').trim()
}

test('the front page shows the state of the platform, with figures of the database', async () => {
  const owner = await world.client()
  const robot = await world.robot(owner)
  await world.robot(owner)
  ;(await world.connect(robot)).beat()
  await waitFor(async () =>
    expect(await statusLine(world.baseUrl)).toBe(
      'Operational · Robots online 1 of 2 · Open sessions 0 · Hours driven 0',
    ),
  )
})

test('the front page offers the sign-in, and the console to a browser with a session', async () => {
  const entrance = async (headers: Record<string, string>) => {
    const html = await (await fetch(world.baseUrl, { headers })).text()
    return /<a href="([^"]*)">[^<]*<\/a><\/nav>\s*<\/header>/.exec(html)?.[1]
  }
  expect(await entrance({})).toBe('/auth/login?return_to=%2Fdashboard')
  expect(await entrance({ Cookie: '__session=any' })).toBe('/dashboard')
})

test('the program of the front page is that of the README', async () => {
  const html = await (await fetch(world.baseUrl)).text()
  const shown = /<pre[^>]*><code>([\s\S]*?)<\/code>/.exec(html)?.[1] as string
  const program = shown.replaceAll(/<[^>]+>/g, '').replaceAll(/^(?=.)/gm, '   ')
  expect(readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')).toContain(program)
})

test('the font is one small file that browsers keep, and pages may load it', async () => {
  const page = await fetch(world.baseUrl)
  const [, address = ''] = /<link rel="preload" href="([^"]+)" as="font"/.exec(await page.text()) ?? []
  expect(page.headers.get('Content-Security-Policy')).toContain("font-src 'self';")
  const font = await fetch(world.baseUrl + address)
  expect([font.status, font.headers.get('Content-Type')]).toEqual([200, 'font/woff2'])
  expect(font.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
  expect((await font.arrayBuffer()).byteLength).toBeLessThan(60_000)
  expect((await fetch(world.baseUrl + address, { method: 'POST' })).status).toBe(405)
})

test('without the built-in accounts of the demo, the front page offers no demo', async () => {
  const html = await (await fetch(world.baseUrl)).text()
  expect(html).not.toContain('login_hint')
  expect(html).toContain('href="/dashboard"')
  expect(html).not.toContain('<script')
})

test('without its database, the front page says why the platform is not ready, and recovers', async () => {
  const database = await createTestDatabase()
  try {
    await using proxy = await createTcpProxy(database.url)
    await using outer = await createWorld({ env: { DATABASE_URL: proxy.url } })
    await waitFor(async () => expect(await statusLine(outer.baseUrl)).toMatch(/^Operational/))
    proxy.cut()
    await waitFor(async () =>
      expect(await statusLine(outer.baseUrl)).toBe('Not ready: the database does not respond'),
    )
    proxy.restore()
    await waitFor(async () => expect(await statusLine(outer.baseUrl)).toMatch(/^Operational/))
  } finally {
    await database.drop()
  }
})
