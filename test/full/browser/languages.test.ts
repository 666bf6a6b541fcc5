import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ConsoleBrowser, heading, openConsole, seriousIssues } from '../../support/browser/console.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
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

const GERMAN_CATALOGUE = /\/assets\/de-[^/]*\.js$/
const languageOf = (page: Page) => page.locator('html').getAttribute('lang')

/** Collects the addresses that a page requests. */
function requestsOf(page: Page): string[] {
  const requests: string[] = []
  page.on('request', (request) => requests.push(new URL(request.url()).pathname))
  return requests
}

test('follows the browser: German texts, numbers, dates, statuses and errors', async () => {
  const owner = await readyOwner(world)
  await world.robot(owner, { name: 'Greifer' })
  const { page } = await browser.enter(owner, '/dashboard/robots', { locale: 'de-DE' })
  await heading(page, 'Roboter')
  expect(await languageOf(page)).toBe('de-DE')
  await page.getByTestId('robot-row').getByText('Offline', { exact: true }).waitFor()
  expect(await seriousIssues(page)).toEqual([])

  await page.goto(`${world.baseUrl}/dashboard/invoices`)
  await heading(page, 'Rechnungen')
  await page
    .getByText(/^\d,\d\d\s€$/)
    .first()
    .waitFor()
  await page.goto(`${world.baseUrl}/dashboard/robots/00000000-0000-4000-8000-000000000000`)
  await page.getByText('Roboter nicht gefunden').waitFor()
})

test('another language can be chosen, in the account menu and in the settings, and stays', async () => {
  const owner = await readyOwner(world)
  const { page, context } = await browser.enter(owner, '/dashboard/robots', { locale: 'de-AT' })
  await heading(page, 'Roboter')
  await page.getByRole('button', { name: `Konto von ${owner.name}` }).click()
  expect(await page.getByRole('menuitemradio', { name: 'Deutsch' }).getAttribute('aria-checked')).toBe('true')
  expect(await seriousIssues(page), 'the account menu').toEqual([])
  await page.getByRole('menuitemradio', { name: 'English' }).click()
  await heading(page, 'Robots')
  expect(await languageOf(page)).toBe('en')
  const mailLanguage = async () => (await owner.get('/api/notifications/settings')).body.language
  await expect.poll(mailLanguage).toBe('en')

  const second = await context.newPage()
  await second.goto(`${world.baseUrl}/dashboard/settings`)
  await heading(second, 'Settings')
  await second.getByRole('combobox', { name: 'Language', exact: true }).click()
  await second.getByRole('option', { name: 'System' }).click()
  await heading(second, 'Einstellungen')
  expect(await languageOf(second)).toBe('de-AT')
  await expect.poll(mailLanguage).toBe('de')
  await second.getByRole('combobox', { name: 'Sprache der E-Mails' }).click()
  await second.getByRole('option', { name: 'English' }).click()
  await expect.poll(mailLanguage).toBe('en')
  expect(await languageOf(second)).toBe('de-AT')
})

test('a new user receives mails in the language of the console', async () => {
  const { page } = await browser.signIn('neu@test.local', '/dashboard', { locale: 'de-DE' })
  await heading(page, 'Willkommen, neu')
  const language = () =>
    page.evaluate("fetch('/api/notifications/settings').then((r) => r.json()).then((s) => s.language)")
  await expect.poll(language).toBe('de')
})

test('a browser without a catalogue of its languages shows English and loads no other catalogue', async () => {
  const { page } = await browser.visit({ locale: 'fr-FR' })
  const requests = requestsOf(page)
  await page
    .context()
    .addCookies([
      { name: '__session', value: (await readyOwner(world)).token, url: world.baseUrl, httpOnly: true },
    ])
  await page.goto(`${world.baseUrl}/dashboard/robots`)
  await heading(page, 'Robots')
  expect(await languageOf(page)).toBe('en')
  expect(requests.filter((path) => GERMAN_CATALOGUE.test(path))).toEqual([])
})

test('is English when its catalogue cannot be loaded', async () => {
  const { page } = await browser.enter(await readyOwner(world), '/dashboard/robots', { locale: 'de-DE' })
  await heading(page, 'Roboter')
  await page.route(GERMAN_CATALOGUE, (route) => route.abort())
  await page.reload()
  await heading(page, 'Robots')
  expect(await languageOf(page)).toBe('en')
  await page.unroute(GERMAN_CATALOGUE)
  await page.reload()
  await heading(page, 'Roboter')
})
