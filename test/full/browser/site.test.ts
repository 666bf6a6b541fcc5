import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import {
  type ConsoleBrowser,
  chooseAccount,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** Opens a page without a session, and records the paths that it requests. */
async function visit(path: string, options = {}): Promise<{ page: Page; requested: string[] }> {
  const { page } = await browser.visit(options)
  const requested: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith('http')) requested.push(new URL(request.url()).pathname)
  })
  await page.goto(world.baseUrl + path)
  return { page, requested }
}

test('the sign-in page is one small document, and returns to the requested page', async () => {
  const { page, requested } = await visit('/dashboard/settings', { javaScriptEnabled: false })
  await heading(page, 'Wheelhouse')
  const signIn = page.getByRole('link', { name: 'Sign in' })
  await signIn.waitFor()
  expect(requested).toEqual(['/dashboard/settings'])
  // 1.6 Mbit/s carry this within a tenth of a second.
  const response = await page.request.get(page.url(), { headers: { 'Accept-Encoding': 'br' } })
  expect((await response.body()).byteLength).toBeLessThan(12_000)
  await signIn.click()
  await chooseAccount(page, 'new@test.local')
  await page.waitForURL(`${world.baseUrl}/dashboard/settings`)
})

test('the sign-in page is accessible', async () => {
  const { page } = await visit('/dashboard')
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  await expectAccessibleLayout(page, 'sign-in page')
})

test('an unknown address shows a page that leads to the console', async () => {
  const { page, requested } = await visit('/robots/<none>')
  await heading(page, 'Page not found')
  await page.getByText('There is no page at /robots/%3Cnone%3E.').waitFor()
  expect(requested).toEqual(['/robots/%3Cnone%3E'])
  await expectAccessibleLayout(page, 'error page')
  await page.getByRole('link', { name: 'Open console' }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
})

test('the front page works without scripts, and shows the picture of the cockpit in both colour schemes', async () => {
  for (const [colorScheme, picture] of [
    ['light', 'cockpit-light.png'],
    ['dark', 'cockpit.png'],
  ] as const) {
    const { page, requested } = await visit('/', { javaScriptEnabled: false, colorScheme })
    await heading(page, 'Wheelhouse')
    await page.getByRole('status').getByText('Operational').waitFor()
    const image = page.getByRole('img', { name: /cockpit/ })
    await image.scrollIntoViewIfNeeded()
    expect(requested).toEqual(['/', `/docs/images/${picture}`])
    expect(await page.getByRole('link', { name: /demo/ }).count()).toBe(0)
  }
  const { page } = await visit('/')
  await expectAccessibleLayout(page, 'front page')
})

test.each(['/docs', '/docs/protocol-robot', '/docs/readme', '/docs/configuration', '/docs/monitoring'])(
  '%s is accessible',
  async (path) => {
    const { page } = await visit(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectAccessibleLayout(page, path, { codes: true })
  },
)

test('guides lead to one another, to their parts and to the API reference', async () => {
  const { page } = await visit('/docs')
  await page.getByRole('link', { name: 'The wire protocol' }).click()
  await heading(page, 'The wire protocol')
  const navigation = page.getByRole('navigation', { name: 'Guides' })
  expect(await navigation.locator('[aria-current=page]').innerText()).toBe('The wire protocol')
  await page.getByText('On this page').click()
  await page.getByRole('group').getByRole('link').last().click()
  const anchor = new URL(page.url()).hash
  expect(anchor).not.toBe('')
  expect(await page.locator(anchor).evaluate((item) => item.tagName)).toBe('H2')
  await page.getByRole('link', { name: 'API reference' }).click()
  await page.waitForURL(`${world.baseUrl}/api/docs`)
})

test('the API reference follows the colour scheme', async () => {
  const { page } = await visit('/api/docs', { colorScheme: 'dark' })
  await page.locator('#swagger-ui .opblock').first().waitFor()
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await background()).toBe('rgb(36, 36, 36)')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html:not(.dark-mode)').waitFor()
  expect(await background()).toBe('rgb(255, 255, 255)')
  await page.getByRole('link', { name: 'Guides' }).click()
  await heading(page, 'Guides')
})

test('one click on the front page starts the demo, and other sites cannot choose an account', async () => {
  const database = await createTestDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-front-'))
  try {
    await using app = startWheelhouse({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      DEMO: 'true',
      PORT: String(await freePort()),
    })
    const { baseUrl } = await app.serving()
    const { page } = await browser.visit()
    await page.goto(baseUrl)
    const demo = page.getByRole('link', { name: /Try the demo as Pat Pilot/ })
    await expectAccessibleLayout(page, 'front page with a demo')
    const target = (await demo.getAttribute('href')) as string
    await demo.click()
    await page.getByRole('heading', { name: ', Pat Pilot' }).waitFor()

    const { page: foreign } = await browser.visit()
    await foreign.goto(`${world.baseUrl.replace('localhost', '127.0.0.1')}/docs`)
    await foreign.evaluate((address) => location.assign(address), baseUrl + target)
    await heading(foreign, 'Sign in to Wheelhouse')
    await foreign.getByRole('button', { name: /Pat Pilot/ }).waitFor()
    await browser.closePages() // before the platform ends, from which they still load
  } finally {
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  }
})
