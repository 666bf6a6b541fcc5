import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import { forgiveSlowStops, openCockpit, SLOW_RELOADS } from '../../support/browser/cockpit.ts'
import {
  type Box,
  boxOf,
  COCKPIT_SIZES,
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

test('at seven sizes the picture fills the window, and no instrument is out of view or covered', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  await page.getByText(/Last frame \d+ ms ago/).waitFor()
  await page.getByTestId('speed').getByText('0.00').waitFor()
  for (const [width, height, share] of COCKPIT_SIZES) {
    await page.setViewportSize({ width, height })
    await expectLayout(page, share)
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
    await expectLayout(page, 0.9)
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
  const { width, height } = page.viewportSize() as { width: number; height: number }
  expect(await map.boundingBox()).toEqual({ x: 0, y: 0, width, height })
})

test('the key M swaps picture and map', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  const map = page.getByRole('img', { name: /^Map: the robot is at/ })
  await map.waitFor()
  const { width } = page.viewportSize() as { width: number }
  expect((await map.boundingBox())?.width).toBeLessThan(width / 2)
  await page.keyboard.press('m')
  await waitFor(async () => expect((await map.boundingBox())?.width).toBe(width))
  await page.keyboard.press('m')
  await waitFor(async () => expect((await map.boundingBox())?.width).toBeLessThan(width / 2))
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
  await page.getByText(/Last frame \d+ ms ago/).waitFor()
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
  await page.getByRole('region', { name: 'Extension' }).getByRole('button', { name: 'Accept' }).waitFor()
  await waitFor(async () =>
    expect(await page.getByTestId('session-clock').innerText()).toMatch(/0:0[5-9]|0:[1-9]/),
  )
  await fixture.expectMoving()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
  await page.getByText('Paused: press R to resume').waitFor()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await page.getByTestId('stop-banner').getByText('Stopped by the owner: cat on the floor.').waitFor()
  camera.freeze(true)
  await page.getByTestId('freshness').getByText('BLIND').waitFor()
  await robot.close()
  await page.getByText('The robot lost its connection').first().waitFor({ state: 'attached' })
  expect(await page.evaluate('window.shifts')).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'sheets, dialogs and the banner of a stop are accessible: %s',
  async (colorScheme) => {
    await using fixture = await openCockpit(world, browser, { page: { colorScheme } })
    const { page } = fixture
    const expectAccessible = async (what: string) => expect(await seriousIssues(page), what).toEqual([])
    await page.keyboard.press('?')
    await page.getByRole('table', { name: 'Keys' }).waitFor()
    await expectAccessible('keys')
    await closeDialog(page)
    for (const [tool, text] of [
      ['Controls', 'Vibrate'],
      ['Session log', 'Event log'],
    ] as const) {
      const more = page.getByRole('button', { name: 'More', exact: true })
      if (await more.isVisible()) await more.click()
      await page.getByRole('button', { name: tool, exact: true }).click()
      await page.getByRole('dialog').getByText(text).first().waitFor()
      await expectAccessible(tool)
      await closeDialog(page)
    }
    await page.getByRole('button', { name: 'End', exact: true }).click()
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
    await page.getByTestId('latency').click()
    await page.keyboard.press('t')
    await expectAccessible('details and telemetry')
    await page.getByTestId('stop').click()
    await page.getByRole('button', { name: 'Clear stop' }).waitFor()
    await expectAccessible('stopped')
  },
)

async function closeDialog(page: Page): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('the key ` hides the overlay, but neither the stop, the state, the clock nor the last message', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.getByTestId('heading').waitFor()
  await page.keyboard.press('`')
  await page.getByTestId('heading').waitFor({ state: 'hidden' })
  for (const testId of ['stop', 'pause', 'freshness', 'session-clock', 'chat-last'])
    expect(await page.getByTestId(testId).isVisible(), testId).toBe(true)
  await page.keyboard.press('`')
  await page.getByTestId('heading').waitFor()
})
