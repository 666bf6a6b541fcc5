import { RobotLink } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { forgiveSlowStops, openCockpit, runCommand, waitUntilDriving } from '../../support/browser/cockpit.ts'
import { COCKPIT_SIZES, expectLayout } from '../../support/browser/cockpit-layout.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
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

const statusOf = (page: Page) => page.getByTestId('goal')

/** Presses the map at a distance from the robot, which is in its middle, and drags from there; in pixels. */
async function pressMap(page: Page, [right, up]: readonly number[], drag: readonly number[] = [0, 0]) {
  const { x, y, width, height } = (await page.getByTestId('goal-map').boundingBox())!
  const at = [x + width / 2 + right!, y + height / 2 - up!] as const
  await page.mouse.move(...at)
  await page.mouse.down()
  await page.mouse.move(at[0] + drag[0]!, at[1] - drag[1]!, { steps: 3 })
  await page.mouse.up()
}

test('the operator sends the robot to a place by a press and a drag, and a key that drives takes it back', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  await page.keyboard.press('g')
  const map = page.getByTestId('goal-map')
  const { height } = (await map.boundingBox())!
  expect(height).toBeGreaterThan(220)
  const pixelsPerM = height / 2 / 5
  await statusOf(page).getByText('Press where it should drive, and drag to set its heading').waitFor()

  // Two metres to the right and one up, at the end heading up.
  await pressMap(page, [2 * pixelsPerM, pixelsPerM], [0, 60])
  await statusOf(page)
    .getByText(/^Drives itself: \d+%, \d\.\d m to go$/)
    .waitFor()
  await page.getByTestId('mode').getByText('Drives itself').waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await statusOf(page).getByText('Goal reached').waitFor()
  await page.getByTestId('mode').waitFor({ state: 'detached' })
  expect(Math.abs(robot.state.xM - 52)).toBeLessThan(0.2)
  expect(Math.abs(robot.state.yM - 51)).toBeLessThan(0.2)
  expect(Math.abs(robot.state.headingRad - Math.PI / 2)).toBeLessThan(0.1)
  expect(await fixture.commands(), 'no command was needed').toEqual({ moving: 0, zero: 0 })

  // A key that drives takes the robot back.
  await pressMap(page, [-4 * pixelsPerM, 0])
  await fixture.expectMoving()
  await page.keyboard.down('ArrowUp')
  await statusOf(page).getByText('Goal canceled').waitFor()
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()

  // X cancels, and so does the button.
  for (const cancel of [
    () => page.keyboard.press('x'),
    () => page.getByRole('button', { name: 'Cancel goal' }).click(),
  ]) {
    await pressMap(page, [0, -4 * pixelsPerM])
    await statusOf(page)
      .getByText(/to go$/)
      .waitFor()
    await cancel()
    await statusOf(page).getByText('Goal canceled').waitFor()
    await fixture.expectHalted()
  }
})

test('a press gives no goal on an old map, or while the session is paused, and says why', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot, robotId, robotToken } = fixture
  await runCommand(page, 'goal-map')
  await statusOf(page).getByText('Press where it should drive, and drag to set its heading').waitFor()
  await page.keyboard.press('p')
  await page.getByRole('region', { name: 'Status' }).getByText('Paused').waitFor()
  await pressMap(page, [60, 0])
  await statusOf(page).getByText('No goal: you do not drive now').waitFor()
  await page.keyboard.press('r')
  await page.getByRole('region', { name: 'Status' }).getByText('You drive').waitFor()

  // A robot that is connected, and sends no samples any more.
  await robot.close()
  const url = `${world.gatewayUrl}/robots/${robotId}/control`
  const goals: unknown[] = []
  const silent = new RobotLink({
    url,
    token: robotToken,
    onGoal: (goal) => goals.push(goal),
    onGoalCanceled: () => {},
  })
  onTestFinished(() => silent.close())
  await silent.connect()
  silent.autonomy({ mode: 'manual', goalFrame: 'odom' })
  await page.locator('[data-hud=nearby][data-stale]').getByTestId('goal-map').waitFor()
  await pressMap(page, [60, 0])
  await statusOf(page).getByText('No goal: the map is out of date').waitFor()
  silent.telemetry({ pose: { x_m: 1, y_m: 2, heading_rad: 0 } })
  expect(goals).toEqual([])
})

test('a viewer sees the goal on the same map, and cannot give one', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId, robot } = fixture
  await page.keyboard.press('g')
  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` }) // completes the onboarding
  const viewer = await browser.enter(owner, `/dashboard/watch/${sessionId}`)
  await waitUntilDriving(viewer.page)
  await page.getByRole('button', { name: 'Show more' }).click()
  await pressMap(page, [140, 0])
  await viewer.page.getByTestId('mode').getByText('Drives itself').waitFor()
  await viewer.page.keyboard.press('g')
  await statusOf(viewer.page)
    .getByText(/to go$/)
    .waitFor()
  await pressMap(viewer.page, [-60, 0])
  expect(robot.state.xM, 'it turned nowhere').toBeGreaterThanOrEqual(50)
  await page.keyboard.press('x')
  await statusOf(viewer.page).getByText('Goal canceled').waitFor()
  await viewer.page.getByTestId('mode').waitFor({ state: 'detached' })
})

test('at six sizes the map covers no other instrument', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.keyboard.press('g')
  for (const [width, height, share] of COCKPIT_SIZES) {
    await page.setViewportSize({ width, height })
    await expectLayout(page, share)
    expect(await seriousIssues(page), `${width} × ${height}`).toEqual([])
  }
})
