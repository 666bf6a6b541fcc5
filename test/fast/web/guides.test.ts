import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorld, type World } from '../../support/world/world.ts'

const root = new URL('../../../', import.meta.url)

let world: World
/** The HTML of every page, by its address. */
const pages = new Map<string, string>()
beforeAll(async () => {
  world = await createWorld()
  await crawl('/docs')
})
afterAll(() => world[Symbol.asyncDispose]())

const get = (path: string, headers: Record<string, string> = {}) => fetch(world.baseUrl + path, { headers })
const linksOf = (html: string) =>
  [...html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
const idsOf = (html: string) => new Set([...html.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id))

/** Loads a page and all guides that it leads to. */
async function crawl(address: string): Promise<void> {
  if (pages.has(address)) return
  const answer = await get(address)
  expect(answer.status, address).toBe(200)
  const html = await answer.text()
  pages.set(address, html)
  for (const href of linksOf(html)) {
    const [path = ''] = href.split('#')
    if (path.startsWith('/docs')) await crawl(path)
  }
}

test('every document of the folder has a page with its text', () => {
  const documents = readdirSync(new URL('docs', root)).filter((name) => name.endsWith('.md'))
  expect(documents.length).toBeGreaterThan(10)
  for (const name of documents) {
    const html = pages.get(`/docs/${name.replace(/\.md$/, '').toLowerCase()}`)
    const title = /^# (.+)$/m.exec(readFileSync(new URL(`docs/${name}`, root), 'utf8'))?.[1] as string
    expect(html, name).toMatch(new RegExp(`<h1 id="[^"]+">${title.split('`')[0]?.trim()}`))
  }
  for (const path of ['/docs/readme', '/docs/architecture', '/docs/packages/sdk', '/docs/examples/python'])
    expect([...pages.keys()]).toContain(path)
})

test('every internal link of the guides resolves, with its anchor', async () => {
  const others = new Map<string, number>()
  for (const [address, html] of pages) {
    for (const href of linksOf(html)) {
      expect(href, address).toMatch(/^(https?:\/\/|mailto:|\/|#)/)
      // Neither the packages nor the console are built here.
      if (/^(https?:|mailto:|\/downloads$|\/dashboard$)/.test(href)) continue
      const [path = '', anchor] = href.split('#')
      const target = pages.get(path === '' ? address : path)
      if (target === undefined) others.set(path, others.get(path) ?? (await get(path)).status)
      else if (anchor) expect(idsOf(target), `${address}: ${href}`).toContain(anchor)
    }
  }
  expect([...others].filter(([, status]) => status !== 200)).toEqual([])
  expect(others.has('/api/docs')).toBe(true)
})

test('pictures of the guides are served', async () => {
  const pictures = new Set(
    [...pages.values()].flatMap((html) =>
      [...html.matchAll(/<img\b[^>]*\bsrc="([^"]*)"/g)].map(([, src]) => src),
    ),
  )
  expect(pictures.size).toBeGreaterThan(3)
  for (const src of pictures) {
    const answer = await get(src as string)
    expect(answer.status, src).toBe(200)
    expect(answer.headers.get('Content-Type')).toMatch(/^image\/(png|svg\+xml)/)
  }
})

test('a guide is compressed, is revalidated, and runs no script', async () => {
  const answer = await get('/docs/protocol-robot', { 'Accept-Encoding': 'br' })
  expect(answer.headers.get('Content-Encoding')).toBe('br')
  expect(Number(answer.headers.get('Content-Length'))).toBeLessThan((await answer.text()).length / 3)
  expect(answer.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  const headers = { 'If-None-Match': answer.headers.get('ETag') as string, 'Cache-Control': 'max-age=0' }
  const again = await get('/docs/protocol-robot', headers)
  expect([again.status, await again.text()]).toEqual([304, ''])
  for (const html of pages.values()) expect(html).not.toMatch(/<script|<iframe| on\w+=/)
})

test.each([
  '/docs/',
  '/docs/none',
  '/docs/..%2fpackage',
  '/docs/images/../../package.json',
  '/docs/images/none.png',
])('%s is no guide', async (path) => {
  expect((await get(path)).status).toBe(404)
})
