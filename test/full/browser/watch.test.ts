import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import {
  type CockpitFixture,
  type CockpitOptions,
  forgiveSlowStops,
  holdToClear,
  openCockpit,
  runCommand,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import { expectLayout } from '../../support/browser/cockpit-layout.ts'
import {
  type ConsoleBrowser,
  openConsole,
  type PageOptions,
  seriousIssues,
} from '../../support/browser/console.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
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

const freshness = (page: Page, state: 'LIVE' | 'BLIND') =>
  page.locator(`[data-testid=freshness][data-state=${state}]`).first().waitFor()

/** Opens the cockpit of a robot whose owner has completed the onboarding. */
async function openSession(options: CockpitOptions = {}) {
  const fixture = await openCockpit(world, browser, options)
  await fixture.owner.patch('/api/client/profile', { contact_email: `${fixture.owner.name}@test.local` })
  return fixture
}

/** Opens the view of the cockpit for the owner, while the operator has the cockpit open. */
async function openWatched(options: CockpitOptions = {}, pageOptions?: PageOptions) {
  const fixture = await openSession(options)
  const watching = await watch(fixture, fixture.owner, pageOptions)
  return { fixture, watching, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() }
}

async function watch({ sessionId }: CockpitFixture, user: { token: string }, options?: PageOptions) {
  const { page } = await browser.enter(user, `/dashboard/watch/${sessionId}`, options)
  await page.getByTestId('watching').waitFor()
  await waitUntilDriving(page)
  return page
}

const sizes = [
  [1920, 1080, 0.93],
  [1440, 900, 0.93],
  [844, 390, 0.85],
  [390, 844, 0.5],
] as const

test('the owner has the view of the operator at each size, marked as watching', async () => {
  await using camera = await createTestCamera()
  await using opened = await openWatched({ robot: { stream_url: camera.url } })
  const { fixture, watching: page } = opened
  await fixture.operator.post(`/api/sessions/${fixture.sessionId}/messages`, { body: 'Turning left' })
  await page.getByTestId('chat-last').getByText('Turning left').waitFor()
  await page.getByTestId('speed').getByText('0.00').waitFor()
  await freshness(page, 'LIVE')
  await waitFor(async () => expect(await page.getByTestId('latency').innerText()).toMatch(/\d ms/))
  for (const [width, height, share] of sizes) {
    await page.setViewportSize({ width, height })
    await expectLayout(page, share)
    expect(await page.getByTestId('watching').isVisible(), 'the mark').toBe(true)
    expect(await seriousIssues(page), `${width} × ${height}`).toEqual([])
  }
})

test('keys do not drive, the speed of the operator is shown', async () => {
  await using opened = await openWatched()
  const { fixture, watching: page } = opened
  expect(await page.getByRole('application', { name: /^Stick/ }).count()).toBe(0)
  expect(await page.getByRole('slider', { name: 'Speed limit' }).count()).toBe(0)
  const sent: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(String(payload))))
  await page.reload()
  await waitUntilDriving(page)
  for (const key of ['ArrowUp', 'w', 'a', 'p', 'r', '[', ' ']) await page.keyboard.press(key)
  // The answer to a ping comes after everything that the keys would have sent.
  const pings = () => sent.filter((frame) => frame.includes('"ping"')).length
  const before = pings()
  await waitFor(() => expect(pings()).toBeGreaterThan(before + 2))
  expect(sent.filter((frame) => frame.includes('"control"') || frame.includes('"stop"'))).toEqual([])
  expect((await fixture.read()).status).toBe('ACTIVE')

  await fixture.page.bringToFront()
  await fixture.page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await waitFor(async () => expect(await page.getByTestId('speed').innerText()).toMatch(/0\.[1-9]|0\.0[1-9]/))
  await fixture.page.keyboard.up('ArrowUp')
  await fixture.expectHalted()
})

/** Opens the sheet of keys, and presses Escape there while another key is held. */
async function pressOverDialog(page: Page): Promise<void> {
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await page.keyboard.press('Control+Escape')
  await dialog.waitFor({ state: 'detached' })
}

test.each([
  ['the button', (page: Page) => page.getByTestId('stop').click()],
  ['Escape', (page: Page) => page.keyboard.press('Escape')],
  ['Escape over a dialog, with a modifier', pressOverDialog],
])('%s stops the robot, and the owner clears the stop there', async (_way, press) => {
  await using opened = await openWatched()
  const { fixture, watching: page } = opened
  await press(page)
  const banner = page.getByTestId('stop-banner')
  await banner.getByText(/^You stopped/).waitFor()
  await fixture.page.getByTestId('stop-banner').getByText('Stopped by the owner').waitFor()
  // Robots and pages learn of a stop before the database does.
  await waitFor(async () =>
    expect((await fixture.read()).control.stop).toMatchObject({ by: fixture.owner.id }),
  )
  await page.getByRole('region', { name: 'Status' }).getByText('Stopped', { exact: true }).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await holdToClear(page)
  await page.getByText('Waiting for the operator to resume.').waitFor()
  expect((await fixture.read()).control.stop).toBeNull()
})

test('the stop of the operator has the name of the operator', async () => {
  await using opened = await openWatched()
  await opened.fixture.page.getByTestId('stop').click()
  await opened.watching
    .getByTestId('stop-banner')
    .getByText(/^Stopped by (?!the owner)/)
    .waitFor()
})

test('a frozen picture makes the view blind', async () => {
  await using camera = await createTestCamera()
  await using opened = await openWatched({ robot: { stream_url: camera.url } })
  const { watching: page } = opened
  await freshness(page, 'LIVE')
  camera.freeze(true)
  await freshness(page, 'BLIND')
  expect(await page.getByTestId('freshness-age').first().textContent()).toMatch(/^\d+(\.\d)? s$/)
  camera.freeze(false)
  await freshness(page, 'LIVE')
})

test('the owner pauses, and releases the robot; the view says that the session has ended', async () => {
  await using opened = await openWatched()
  const { fixture, watching: page } = opened
  await runCommand(page, 'pause')
  await page.getByText('Waiting for the operator to resume.').waitFor()
  await page.getByTestId('menu').click()
  expect(await page.getByRole('dialog').getByTestId('pause').isDisabled()).toBe(true)
  await page.getByRole('dialog').getByTestId('end').click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Session ended').first().waitFor()
  await page.getByRole('link', { name: 'View session' }).click()
  await page.getByRole('heading', { name: /^Session on/ }).waitFor()
  expect((await fixture.read()).status).toBe('COMPLETED')
})

test('session, robot and wall lead to the view; Q, the arrow and Back leave it', async () => {
  await using fixture = await openSession()
  const { page } = await browser.enter(fixture.owner, `/dashboard/sessions/${fixture.sessionId}`)
  const link = page.getByRole('link', { name: /in full view|^Watch / })
  const heading = page.getByRole('heading', { name: /^Session on/ })
  await link.click()
  await page.getByTestId('watching').waitFor()
  await page.goBack()
  await heading.waitFor()
  for (const path of [`/dashboard/robots/${fixture.robotId}`, '/dashboard/live']) {
    await page.goto(new URL(path, page.url()).href)
    await link.click()
    await page.getByTestId('watching').waitFor()
    if (path.endsWith('live')) await page.getByRole('link', { name: 'Leave full view' }).click()
    else await page.keyboard.press('q')
    await heading.waitFor()
  }
})

test('an admin watches, the operator is led to the cockpit, and a stranger sees nothing', async () => {
  await using fixture = await openSession()
  await watch(fixture, await world.admin())
  const path = `/dashboard/watch/${fixture.sessionId}`
  const { page: own } = await browser.enter(fixture.operator, path)
  await own.getByRole('link', { name: 'Open cockpit' }).waitFor()
  const { page: strange } = await browser.enter(await readyOwner(world), path)
  await strange.getByRole('link', { name: 'All sessions' }).waitFor()
  expect(await strange.getByTestId('cockpit-picture').count()).toBe(0)
})
