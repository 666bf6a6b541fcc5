import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import { forgiveSlowStops, openCockpit, runCommand, SLOW_RELOADS } from '../../support/browser/cockpit.ts'
import {
  type Box,
  boxOf,
  COCKPIT_SIZES,
  expectFreePicture,
  expectFreeStick,
  expectLayout,
} from '../../support/browser/cockpit-layout.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
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

test('at six sizes the picture fills the window, and no instrument is out of view or covered', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  await page.getByTestId('freshness').getByText('Live').waitFor()
  await page.getByTestId('speed').getByText('0.00').waitFor()
  for (const [width, height, share, freeShare] of COCKPIT_SIZES) {
    await page.setViewportSize({ width, height })
    await expectLayout(page, share)
    await expectFreePicture(page, freeShare)
    await expectFreeStick(page)
    expect(await seriousIssues(page), `${width} × ${height}`).toEqual([])
  }
})

test.each(['right', 'left'])(
  'a phone sideways has stick and stop under two thumbs: %s hand',
  async (hand) => {
    await using fixture = await openCockpit(world, browser, {
      page: { viewport: { width: 844, height: 390 }, hasTouch: true },
    })
    const { page } = fixture
    await page.evaluate(`localStorage.setItem('wheelhouse-hand', '${hand}')`)
    await page.reload()
    await page.getByTestId('speed').getByText('0.00').waitFor()
    await expectLayout(page, 0.85)
    await expectFreeStick(page)
    const stick = (await page.getByRole('application', { name: /^Stick/ }).boundingBox()) as Box
    const stop = await boxOf(page, 'stop')
    expect(stick.x > 422 ? 'right' : 'left').toBe(hand)
    expect(stop.x > 422 ? 'right' : 'left').not.toBe(hand)

    await page.mouse.move(stick.x + 66, stick.y + 66)
    await page.mouse.down()
    await page.mouse.move(stick.x + 66, stick.y + 6)
    await fixture.expectMoving()
    await page.mouse.up()
    await fixture.expectHalted()
  },
)

test('without a camera, the map with the path is the picture', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const map = page.getByRole('img', { name: /^Map: the robot is at/ })
  await map.waitFor()
  await page.getByText('This robot has no video.').waitFor()
  expect(await map.boundingBox()).toEqual(await page.getByTestId('cockpit-picture').boundingBox())
})

test('the key M swaps picture and map', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  const map = page.getByRole('img', { name: /^Map: the robot is at/ })
  const picture = page.getByRole('region', { name: /^Camera of/ })
  await picture.waitFor()
  expect(await map.count()).toBe(0)
  await page.keyboard.press('m')
  await map.waitFor()
  await picture.waitFor({ state: 'hidden' })
  await page.keyboard.press('m')
  await picture.waitFor()
  await map.waitFor({ state: 'detached' })
})

/**
 * Collects the layout shifts that the operator did not cause. A smaller one than this share of the window is that of a letter, and
 * tools report it as 0.
 */
const LEAST_SHIFT = 0.0001
const OBSERVE_SHIFTS = `
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput && value >= ${LEAST_SHIFT}) window.shifts.push(value + ': ' + sources.map(({ node }) => node?.outerHTML?.slice(0, 120)).join(', '))
  }).observe({ type: 'layout-shift' })`

test('nothing moves while the operator drives: not for messages, requests, figures, pauses or an outage', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page, owner, sessionId, robot } = fixture
  await page.getByTestId('freshness').getByText('Live').waitFor()
  await page.evaluate(OBSERVE_SHIFTS)
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  for (const body of [
    'Mind the cat',
    'It is a long way to the shelf on the right, and I can see you. '.repeat(3),
  ]) {
    await owner.post(`/api/sessions/${sessionId}/messages`, { body })
    await page.getByTestId('chat-last').getByText(body.trim().slice(0, 20)).waitFor()
  }
  await owner.post(`/api/sessions/${sessionId}/extend`, { additionalMinutes: 15 })
  await page.getByTestId('call').getByRole('button', { name: 'Accept' }).waitFor()
  await waitFor(async () =>
    expect(await page.getByTestId('session-clock').innerText()).toMatch(/0:0[5-9]|0:[1-9]/),
  )
  await fixture.expectMoving()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
  await page.getByText('Resume when you are ready.').waitFor()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await page.getByTestId('stop-banner').getByText('Stopped by the owner').waitFor()
  camera.freeze(true)
  await page.getByTestId('freshness').getByText('BLIND').waitFor()
  await robot.close()
  await page.getByTestId('freshness').getByText('Lost').waitFor()
  expect(await page.evaluate('window.shifts')).toEqual([])
})

test('menu, sheets, dock and the call of a stop are accessible', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const expectAccessible = async (what: string) => expect(await seriousIssues(page), what).toEqual([])
  await page.getByTestId('menu').click()
  await page.getByRole('dialog').getByTestId('pause').waitFor()
  await expectAccessible('menu')
  await closeDialog(page)
  await page.keyboard.press('?')
  await page.getByRole('table', { name: 'Keys' }).waitFor()
  await expectAccessible('keys')
  await closeDialog(page)
  await runCommand(page, 'controls')
  await page.getByRole('dialog').getByText('Vibrate').first().waitFor()
  await expectAccessible('controls')
  await closeDialog(page)
  await runCommand(page, 'end')
  await page.getByRole('dialog').getByText('End this session?').waitFor()
  await expectAccessible('end')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Leave cockpit' }).click()
  await page
    .getByRole('dialog')
    .getByText(/^Stop driving/)
    .waitFor()
  await expectAccessible('leave')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep driving' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  for (const tab of ['Messages', 'Log', 'Values']) {
    await page.getByRole('tab', { name: tab }).click()
    await expectAccessible(tab)
  }
  await page.getByTestId('latency').click()
  await expectAccessible('details of the connection')
  await page.getByTestId('stop').click()
  await page.getByTestId('clear-stop').waitFor()
  await expectAccessible('stopped')
})

async function closeDialog(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('the key ` hides the instruments, but neither the stop, the state, the clock, the menu nor the last message', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.getByTestId('heading').waitFor()
  await page.keyboard.press('`')
  await page.getByTestId('heading').waitFor({ state: 'hidden' })
  for (const testId of ['stop', 'menu', 'freshness', 'session-clock', 'chat-last'])
    expect(await page.getByTestId(testId).isVisible(), testId).toBe(true)
  await page.keyboard.press('`')
  await page.getByTestId('heading').waitFor()
})
