import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  chooseAccount,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../support/browser/console.ts'
import { createWorld, type World } from '../support/world/world.ts'

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
