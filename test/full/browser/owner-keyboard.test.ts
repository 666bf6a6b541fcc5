import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forgiveSlowStops, openCockpit, waitUntilDriving } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { activate, activateInDialog, tabTo } from '../../support/browser/keyboard.ts'
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
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('with the keyboard only, an owner opens the session, watches, stops, clears, writes, ends, and rates', async () => {
  await using fixture = await openCockpit(world, browser, { robot: { name: 'Ronja' } })
  const { owner, operator, page: cockpit } = fixture
  await owner.patch('/api/client/profile', { contact_email: 'owner@test.local' })
  const { page } = await browser.enter(owner, '/dashboard/live')
  await page.getByTestId('live-tile').getByText(operator.name).waitFor()
  await activate(page, /^Watch /)
  await page.getByTestId('watching').waitFor()
  await activate(page, 'Leave full view')
  await page.getByRole('heading', { name: 'Session on Ronja' }).waitFor()
  const freshness = page.getByTestId('freshness')
  await freshness.and(page.locator('[data-state=LIVE]')).waitFor()

  await cockpit.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.keyboard.press('Escape')
  await fixture.expectHalted()
  await cockpit.keyboard.up('ArrowUp')
  await page.getByText(/^You stopped the robot, /).waitFor()

  // The focus goes back to the button when the dialog closes.
  await activate(page, 'Clear stop')
  await activateInDialog(page, 'Keep stopped')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await activate(page, 'Clear stop')
  await activateInDialog(page, 'Clear stop')
  await page.getByText('Waiting for the operator to resume.').waitFor()
  await cockpit.locator('[data-testid=resume]:enabled').waitFor()
  await cockpit.keyboard.press('r')
  await waitUntilDriving(cockpit)

  await tabTo(page, /^Message$/)
  await page.keyboard.type('Mind the cat')
  await page.keyboard.press('Enter')
  await cockpit.getByTestId('chat-last').getByText('Mind the cat').waitFor()
  // Escape stops the robot in a text field too.
  await cockpit.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.keyboard.press('Escape')
  await fixture.expectHalted()
  await cockpit.keyboard.up('ArrowUp')

  await activate(page, /^End$/)
  await activateInDialog(page, 'End session')
  await page.getByRole('heading', { name: 'Summary' }).waitFor()
  expect((await fixture.read()).status).toBe('COMPLETED')
  await page.getByRole('radio', { name: '5 stars' }).waitFor()
  await tabTo(page, '1 star')
  for (let star = 1; star < 5; star++) await page.keyboard.press('ArrowRight')
  await activate(page, 'Submit rating')
  await page.getByRole('img', { name: 'Rated 5 stars' }).waitFor()
})
