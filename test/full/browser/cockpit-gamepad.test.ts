import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  forgiveSlowStops,
  openCockpit,
  runCommand,
  SLOW_RELOADS,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
import { CONNECT_PAD, TWO_FRAMES } from '../../support/browser/gamepad.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: SLOW_RELOADS })
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

/** Opens the sheet of input devices. */
async function openControls(page: Page): Promise<void> {
  await runCommand(page, 'controls')
  await page.getByRole('dialog').getByText('Drive with the arrow keys').waitFor()
}

async function closeSheet(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

const stopBar = (page: Page) => page.getByTestId('stop-banner')

test('a gamepad drives beyond its adjustable dead zone, and its button stops the robot', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  await page.evaluate(CONNECT_PAD)
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  await page.evaluate('window.pad.axes = [0.1, -0.14]')
  await page.evaluate(TWO_FRAMES)
  expect(await fixture.commands()).toEqual({ moving: 0, zero: 0 })
  const { xM } = robot.state
  await page.evaluate('window.pad.axes = [0, -0.3]')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.01))

  await openControls(page)
  await fixture.expectHalted()
  await page.getByText('Dead zone: 15 % of stick travel').waitFor()
  await page.getByRole('slider', { name: 'Dead zone' }).focus()
  await page.keyboard.press('End')
  await page.getByText('Dead zone: 50 % of stick travel').waitFor()
  await closeSheet(page)
  const sent = await fixture.commands()
  await page.evaluate(TWO_FRAMES)
  expect(await fixture.commands()).toEqual(sent)

  await page.evaluate('window.pad.axes = [0, 0]')
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  await page.evaluate('window.pad.axes = [0, -1]')
  await fixture.expectMoving()
  await page.evaluate('window.pad.buttons[1].pressed = true')
  await fixture.expectHalted()
  await stopBar(page)
    .getByText(/^You stopped/)
    .waitFor()
  // The page shows the stop before the database has it.
  await waitFor(async () => expect((await fixture.read()).control.stop?.by).toBe(fixture.operator.id))
})

test('axes and buttons of a gamepad are shown, detected and stored for the type of the robot', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.evaluate(CONNECT_PAD)
  await openControls(page)
  const sheet = page.getByRole('dialog')
  const picture = sheet.getByRole('img', { name: 'Axes and buttons of the gamepad' })
  await page.evaluate('window.pad.axes = [0, 0, 0, -1]; window.pad.buttons[6].pressed = true')
  await picture.locator('[data-value="-1.00"]').getByText('4', { exact: true }).waitFor()
  await picture.locator('[data-pressed="true"]').getByText('7', { exact: true }).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await page.evaluate('window.pad.axes = [0, 0, 0, 0]; window.pad.buttons[6].pressed = false')
  await sheet.getByRole('button', { name: 'Detect the axis to drive' }).click()
  await sheet.getByRole('button', { name: 'Move the axis' }).waitFor()
  await page.evaluate('window.pad.axes = [0, 0, 0, 0.9]')
  await sheet.getByRole('button', { name: 'Detect the axis to drive' }).waitFor()
  await page.evaluate('window.pad.axes = [0, 0, 0, 0]')
  await sheet.getByLabel('Reverse drive').click()
  await sheet.getByLabel('Hold a button to drive').click()
  await sheet.getByRole('button', { name: 'Detect the button to hold' }).click()
  await page.evaluate('window.pad.buttons[2].pressed = true')
  await sheet.getByRole('button', { name: 'Detect the button to hold' }).waitFor()
  await page.evaluate('window.pad.buttons[2].pressed = false')
  await sheet.getByRole('slider', { name: 'Curve' }).focus()
  await page.keyboard.press('End')
  await closeSheet(page)

  await page.reload()
  await waitUntilDriving(page)
  await page.evaluate(CONNECT_PAD)
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  const pressed = () => page.evaluate('window.pad.axes = [0, 0, 0, 1]')
  await pressed()
  await page.evaluate(TWO_FRAMES)
  await fixture.expectHalted()
  await page.evaluate('window.pad.buttons[2].pressed = true')
  await waitFor(() => expect(fixture.robot.state.leftMps).toBeCloseTo(0.5, 1))
  // Half of the travel beyond the dead zone, bent by the exponent 3, at a limit of 0.5 m/s.
  await page.evaluate('window.pad.axes = [0, 0, 0, 0.575]')
  await waitFor(() => expect(fixture.robot.state.leftMps).toBeCloseTo(0.0625, 2))
  await page.evaluate('window.pad.buttons[2].pressed = false')
  await fixture.expectHalted()
})

test('a gamepad vibrates near an obstacle while it drives, unless the operator has switched that off', async () => {
  await using fixture = await openCockpit(world, browser, { start: { xM: 99.5, yM: 50 } })
  const { page } = fixture
  await page.evaluate(`${CONNECT_PAD}
    window.effects = []
    window.pad.vibrationActuator = { playEffect: async (type, effect) => window.effects.push({ type, ...effect }) }`)
  await page.getByTitle(/Gamepad: Test pad/).waitFor()
  const effects = () =>
    page.evaluate('window.effects') as Promise<{ type: string; strongMagnitude: number }[]>
  await page.evaluate('window.pad.axes = [-1, 0, 0, 0]')
  await waitFor(async () => expect((await effects()).length).toBeGreaterThan(1))
  const [first] = await effects()
  expect(first).toMatchObject({ type: 'dual-rumble' })
  expect(first?.strongMagnitude).toBeGreaterThan(0)
  await page.evaluate('window.pad.axes = [0, 0, 0, 0]')
  await openControls(page)
  await page.getByRole('switch', { name: 'Vibrate' }).click()
  await closeSheet(page)
  await page.evaluate('window.effects = []; window.pad.axes = [-1, 0, 0, 0]')
  const { headingRad } = fixture.robot.state
  await waitFor(() => expect(Math.abs(fixture.robot.state.headingRad - headingRad)).toBeGreaterThan(1))
  expect(await effects()).toEqual([])
})
