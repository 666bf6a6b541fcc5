import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { FONT_ADDRESS } from '../../../src/core/http/site-theme.ts'
import {
  type ConsoleBrowser,
  chooseAccount,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { waitFor } from '../../support/world/wait.ts'
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
  await heading(page, 'Sign in to continue')
  const signIn = page.getByRole('link', { name: 'Sign in' })
  await signIn.waitFor()
  expect(requested).toEqual(['/dashboard/settings', FONT_ADDRESS])
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
  expect(requested).toEqual(['/robots/%3Cnone%3E', FONT_ADDRESS])
  await expectAccessibleLayout(page, 'error page')
  await page.getByRole('link', { name: 'Open console' }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
})

test('the front page works without scripts, in its own font, and nothing moves while its pictures load', async () => {
  const { page, requested } = await visit('/', { javaScriptEnabled: false })
  await heading(page, /Take the wheel/)
  await page.getByRole('contentinfo').getByRole('status').getByText('Operational').waitFor()
  const pictures = page.getByRole('img', { name: /./ })
  for (const picture of await pictures.all()) {
    await picture.scrollIntoViewIfNeeded()
    const { width, height } = (await picture.boundingBox()) as { width: number; height: number }
    expect(width / height).toBeCloseTo(1440 / 900, 1) // also before it is loaded
  }
  await waitFor(() =>
    expect(requested.toSorted()).toEqual([
      '/',
      '/docs/images/cockpit-blind.png',
      '/docs/images/cockpit.png',
      '/docs/images/replay.png',
      '/docs/images/wall.png',
      FONT_ADDRESS,
    ]),
  )
  expect(await page.getByRole('main').locator('.primary').allInnerTexts()).toEqual(['Open the console'])
  const { page: scripted } = await visit('/')
  await expectAccessibleLayout(scripted, 'front page')
  await waitFor(async () =>
    expect(await scripted.evaluate(`document.fonts.check("16px 'Inter Variable'")`)).toBe(true),
  )
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
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API' }).click()
  await page.waitForURL(`${world.baseUrl}/api/docs`)
})

test('the API reference follows the colour scheme', async () => {
  const { page } = await visit('/api/docs', { colorScheme: 'dark' })
  await page.locator('#swagger-ui .opblock').first().waitFor()
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  expect(await background()).toBe('rgb(11, 14, 18)')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html:not(.dark-mode)').waitFor()
  expect(await background()).toBe('rgb(246, 247, 249)')
  await page.getByRole('link', { name: 'Guides' }).click()
  await heading(page, 'Guides')
})

test('one click on the front page leads into the cockpit, and other sites cannot choose an account', async () => {
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
    const demo = page.getByRole('link', { name: 'Drive the demo robot' })
    await expectAccessibleLayout(page, 'front page with a demo')
    const target = (await demo.getAttribute('href')) as string
    await demo.click()
    await page.waitForURL(/\/dashboard\/drive\/[\w-]+$/)
    const cockpit = page.url()
    await page.goBack()
    await heading(page, /Take the wheel/)
    await page.getByRole('link', { name: 'Open console' }).waitFor()
    await demo.click()
    await page.waitForURL(cockpit) // of the session that is still open

    const { page: owner } = await browser.visit()
    await owner.goto(baseUrl)
    await owner.getByRole('link', { name: 'See it as the owner' }).click()
    await owner.getByRole('heading', { name: ', Olive Owner' }).waitFor()

    const { page: foreign } = await browser.visit()
    await foreign.goto(`${world.baseUrl.replace('localhost', '127.0.0.1')}/docs`)
    await foreign.evaluate((address) => location.assign(address), baseUrl + target)
    await heading(foreign, 'Sign in to Wheelhouse')
    await foreign.getByRole('button', { name: /Pat Pilot.*operator/i }).waitFor()
    await expectAccessibleLayout(foreign, 'accounts of the demo')
    await browser.closePages() // before the platform ends, from which they still load
  } finally {
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  }
})
