import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isHalted } from '../../../packages/sdk/index.ts'
import { connectRobot, forgiveSlowStops, waitUntilDriving } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { activate, activateInDialog, tabTo } from '../../support/browser/keyboard.ts'
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
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('with the keyboard only: take a robot, drive, stop, clear, resume, end, and rate', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  await owner.patch('/api/client/profile', { contact_email: 'owner@test.local' })
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  const { id, token } = await world.robot(owner, { name: 'Ronja' })
  await using robot = await connect({ id, token })
  const { page } = await browser.enter(operator, '/dashboard/available')
  await page.getByRole('button', { name: 'Drive now: Ronja' }).waitFor()
  await activate(page, 'Drive now: Ronja')
  await page.waitForURL(`**/dashboard/available/${id}*`) // the first time, the pre-flight comes first
  await page.getByRole('button', { name: 'Drive now', exact: true }).waitFor()
  await activate(page, /^Drive now$/)
  await page.waitForURL('**/dashboard/drive/*')
  const sessionId = new URL(page.url()).pathname.split('/').at(-1)
  await page.getByText('Connected', { exact: true }).waitFor()
  await waitUntilDriving(page)

  const { xM } = robot.state
  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.1))
  await page.keyboard.up('ArrowUp')
  await page.keyboard.press(']')
  await page.getByTestId('speed').getByText('0.55 m/s').waitFor()

  await page.keyboard.press('p')
  await page.getByText('Resume when you are ready.').waitFor()
  await page.keyboard.press('r')
  await waitUntilDriving(page)

  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(isHalted(robot.state)).toBe(false))
  await page.keyboard.press('Escape')
  await waitFor(() => expect(isHalted(robot.state)).toBe(true))
  await page.keyboard.up('ArrowUp')
  await page.getByTestId('clear-stop').waitFor()
  const clearing = await delayAction(page, 'clear_stop')
  await page.keyboard.down('c')
  await clearing.begun
  await page.keyboard.up('c')
  clearing.finish()
  await waitUntilDriving(page)

  await page.keyboard.press('Enter')
  await page.keyboard.type('Stay clear')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('Thanks')
  await page.keyboard.press('Enter')
  await page.getByTestId('chat-last').getByText('Thanks').waitFor()
  expect(await page.getByTestId('dock').count()).toBe(0)
  const { xM: xBeforeMessageM } = robot.state
  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xBeforeMessageM + 0.1))
  await page.keyboard.up('ArrowUp')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('End')
  await page.keyboard.press('Enter')
  await activateInDialog(page, 'End session')
  await page.getByText('Session ended').waitFor()
  await activate(page, 'View session')
  await page.getByRole('heading', { name: 'Summary' }).waitFor()

  const { page: ownerPage } = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  await ownerPage.getByRole('radio', { name: '5 stars' }).waitFor()
  await tabTo(ownerPage, '1 star')
  for (let star = 1; star < 5; star++) await ownerPage.keyboard.press('ArrowRight')
  await activate(ownerPage, 'Submit rating')
  await ownerPage.getByRole('img', { name: 'Rated 5 stars' }).waitFor()
})

/** Holds the request of an action back until `finish`. */
async function delayAction(page: Page, action: string) {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/api/sessions/*', async (route) => {
    if (route.request().postData()?.includes(action)) {
      begun.resolve()
      await released.promise
    }
    await route.continue()
  })
  return { begun: begun.promise, finish: released.resolve }
}

/** Connects the robot, and disconnects it at the end. */
async function connect(robot: { id: string; token: string }) {
  const connected = await connectRobot(world, robot)
  return Object.assign(connected, { [Symbol.asyncDispose]: () => connected.close() })
}
