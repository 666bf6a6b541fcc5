import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { readyOperator, readyOwner } from '../../support/browser/ready-users.ts'
import { start } from '../../support/world/session-fixtures.ts'
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

const field = (page: Page) =>
  page.getByRole('combobox', { name: 'Search robots, sessions, pages and commands' })
const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name })

/** Waits for the part of the header that handles shortcuts. It is loaded after the first view. */
const shortcutsReady = (page: Page) => page.getByRole('button', { name: /^Search/ }).waitFor()

async function openPalette(page: Page): Promise<void> {
  await shortcutsReady(page)
  await page.keyboard.press('Control+k')
  await field(page).waitFor()
}

test('the palette opens pages, commands, robots and sessions by keyboard only', async () => {
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const robot = await world.robot(owner, { name: 'Galley', require_certification: false })
  ;(await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  const { page } = await browser.enter(owner)

  await openPalette(page)
  await expectAccessibleLayout(page, 'the palette')
  await field(page).fill('invoi')
  await option(page, /^Invoices/).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard/invoices')
  await field(page).waitFor({ state: 'hidden' })

  await openPalette(page)
  await field(page).fill('galley')
  await option(page, /^Galley/)
    .nth(1)
    .waitFor()
  await page.getByText('Your robots', { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/dashboard/robots/${robot.id}`)

  await openPalette(page)
  await field(page).fill('galley')
  await option(page, /^Galley/)
    .nth(1)
    .waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/dashboard/sessions/${sessionId}`)

  await page.goto(`${world.baseUrl}/dashboard/robots`)
  await heading(page, 'Robots')
  await openPalette(page)
  await field(page).fill('dark')
  await page.keyboard.press('Enter')
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()

  await openPalette(page)
  await field(page).fill('register')
  await page.keyboard.press('Enter')
  await heading(page, 'Register a robot')

  // Escape closes the palette, and the focus returns.
  const name = page.getByLabel('Name')
  await name.focus()
  await openPalette(page)
  await field(page).fill('no such thing')
  await page.getByText('No results').waitFor()
  await page.keyboard.press('Escape')
  await field(page).waitFor({ state: 'hidden' })
  await waitFor(async () =>
    expect(await name.evaluate((element) => element === document.activeElement)).toBe(true),
  )
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
})

test('a newer text cancels the search of an older one, and a pause in typing is one request', async () => {
  const owner = await readyOwner(world)
  const { page } = await browser.enter(owner)
  const requested: string[] = []
  const cancelled: string[] = []
  const textOf = (url: string) => new URL(url).searchParams.get('q') ?? ''
  const held = Promise.withResolvers<void>()
  page.on('requestfailed', (request) => cancelled.push(textOf(request.url())))
  await page.route('**/api/search?**', async (route) => {
    const text = textOf(route.request().url())
    requested.push(text)
    if (text === 'slow') await held.promise
    await route.continue().catch(() => undefined)
  })
  await openPalette(page)
  await field(page).pressSequentially('slow')
  await waitFor(() => expect(requested).toEqual(['slow']))
  await field(page).fill('other')
  await waitFor(() => expect([requested, cancelled]).toEqual([['slow', 'other'], ['slow']]))
  held.resolve()
})

test('shortcuts open pages and focus the search; the sheet lists them; they are off while typing', async () => {
  const owner = await readyOwner(world)
  await world.robot(owner)
  const { page } = await browser.enter(owner)
  await shortcutsReady(page)
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.waitForURL('**/dashboard/robots')
  await heading(page, 'Robots')
  await page.keyboard.press('/')
  const search = page.getByRole('searchbox').first()
  await waitFor(async () =>
    expect(await search.evaluate((element) => element === document.activeElement)).toBe(true),
  )
  // Keys are text while the user types.
  await page.keyboard.type('g?')
  expect(await search.inputValue()).toBe('g?')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await search.fill('')
  await search.blur()

  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByRole('row', { name: /Robots/ }).waitFor()
  await sheet.getByRole('row', { name: /Live/ }).waitFor()
  // The owner has no pages of operators.
  expect(await sheet.getByRole('row', { name: /Earnings/ }).count()).toBe(0)
  await expectAccessibleLayout(page, 'the sheet')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await sheet.waitFor()
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL((url) => url.pathname.replace(/\/$/, '') === '/dashboard')
})

test('the cockpit has its own keys: neither palette nor shortcuts', async () => {
  const [owner, operator] = [await world.client(), await readyOperator(world)]
  const robot = await world.robot(owner, { name: 'Quiet', require_certification: false })
  ;(await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  const { page } = await browser.enter(operator, `/dashboard/drive/${sessionId}`)
  await page.getByTestId('cockpit-picture').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  // The key after them is answered, so they were handled before.
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  expect(await field(page).count()).toBe(0)
  expect(page.url()).toContain(`/dashboard/drive/${sessionId}`)
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
})
