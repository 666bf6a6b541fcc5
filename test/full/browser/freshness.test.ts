import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import {
  type CockpitFixture,
  forgiveSlowStops,
  openCockpit,
  SLOW_RELOADS,
} from '../../support/browser/cockpit.ts'
import {
  type ConsoleBrowser,
  openConsole,
  seriousIssues,
  throughNetwork,
} from '../../support/browser/console.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
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

const untilState = (page: Page, state: 'LIVE' | 'DELAYED' | 'BLIND') =>
  page.locator(`[data-testid=freshness][data-state=${state}]`).first().waitFor()
/** Returns the age that covers the picture, in large digits. */
const shownAge = (page: Page) => page.getByTestId('freshness-age')

/** Notes in the page in which frame each state was shown first, and in which frame the connection counted as lost. */
const NOTE_STATES = `
  window.seen = {}
  let frame = 0
  const note = () => {
    const state = document.querySelector('[data-testid="freshness"]')?.dataset.state
    if (state) window.seen[state] ??= frame
    if (document.body.innerText.includes('No connection')) window.seen.lost ??= frame
    frame++
    requestAnimationFrame(note)
  }
  note()`

async function endSession({ operator, sessionId }: CockpitFixture) {
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
}

test.each([[true], [false]])(
  'a frozen picture makes the page blind and halts the robot, until it is back (parts with a length: %s)',
  async (hasLengths) => {
    await using camera = await createTestCamera({ hasLengths })
    await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
    const { page } = fixture
    await untilState(page, 'LIVE')
    await page.keyboard.down('ArrowUp')
    await fixture.expectMoving()
    camera.freeze(true)
    await untilState(page, 'BLIND')
    await fixture.expectHalted()
    await page.getByText('Picture frozen: driving held', { exact: true }).waitFor()
    const text = (await shownAge(page).textContent()) ?? ''
    expect(text).toMatch(/^\d+(\.\d)? s$/)
    expect(
      await shownAge(page).evaluate((it) => Number.parseFloat(getComputedStyle(it).fontSize)),
    ).toBeGreaterThanOrEqual(100)
    const before = await fixture.commands()
    await waitFor(async () => expect((await fixture.commands()).moving).toBeGreaterThan(before.moving + 5))
    await fixture.expectHalted() // although the key is held
    expect(await seriousIssues(page)).toEqual([])

    camera.freeze(false)
    await untilState(page, 'LIVE')
    expect(await shownAge(page).count()).toBe(0)
    await fixture.expectMoving()
    await page.keyboard.up('ArrowUp')
    await fixture.expectHalted()
    await endSession(fixture)
    await waitFor(async () => {
      const { video } = (await fixture.read()).latency
      expect(video.dropped).toBeGreaterThan(0)
      expect(video.max_ms).toBeLessThanOrEqual(700.1)
    })
  },
)

test('without a limit the owner lets a robot be driven by an old picture, which still makes the page blind', async () => {
  await using camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, {
    robot: { stream_url: camera.url, video_limit_ms: null },
  })
  const { page } = fixture
  await untilState(page, 'LIVE')
  camera.freeze(true)
  await untilState(page, 'BLIND')
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await untilState(page, 'BLIND')
})

test('a camera whose frames the browser does not report is never live, and holds a robot with a limit', async () => {
  await using camera = await createTestCamera({ readable: false })
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  await page.getByText('picture, age unknown').waitFor()
  await untilState(page, 'DELAYED')
  await page.keyboard.down('ArrowUp')
  await page.getByText('Picture age unknown: driving held').waitFor()
  await fixture.expectHalted()
  const path = `/api/client/robots/${fixture.robotId}`
  expect((await fixture.owner.patch(path, { video_limit_ms: null })).status).toBe(200)
  await fixture.expectMoving()
})

test('a camera that ends is named, without the words of the browser, and is tried again', async () => {
  const camera = await createTestCamera()
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  await untilState(page, 'LIVE')
  await camera[Symbol.asyncDispose]()
  await page.getByText(/^Camera unreachable\. Retrying( in \d+ s|…)$/).waitFor()
  await untilState(page, 'BLIND')
  await page.getByText('Camera unreachable', { exact: true }).waitFor()
  expect(await page.getByText('Picture frozen').count()).toBe(0)
  expect(await page.locator('body').innerText()).not.toMatch(/failed to fetch|network ?error/i)
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText(/^Camera unreachable\. Retrying in \d+ s$/).waitFor()
})

test('the cockpit is blind before its connection counts as lost, and live again after the network is back', async () => {
  await using network = await createTcpProxy(world.gatewayUrl)
  await using fixture = await openCockpit(world, browser)
  const { page, context } = fixture
  await throughNetwork(context, network.url)
  await page.reload()
  await untilState(page, 'LIVE')
  await page.evaluate(NOTE_STATES)
  network.silence()
  await untilState(page, 'BLIND')
  await page.getByText('No connection', { exact: true }).first().waitFor()
  const status = page.getByRole('region', { name: 'Status' })
  await status.getByText('No answer', { exact: true }).waitFor()
  for (const figure of ['battery', 'earnings'])
    await page.locator(`[data-testid=${figure}][data-stale]`).waitFor({ state: 'attached' })
  await page.getByTestId('heading').getByText('–', { exact: true }).waitFor()
  // A second after the last frame; the connection counts as lost after five.
  await waitFor(async () => expect(await page.evaluate('window.seen')).toHaveProperty('lost'))
  const seen = (await page.evaluate('window.seen')) as Record<string, number>
  expect(seen.BLIND).toBeLessThanOrEqual(seen.lost as number)
  network.restore()
  await untilState(page, 'LIVE')
  await status.getByText(/^(You drive|Paused)$/).waitFor()
})

test("nothing on the owner's live page stays green after the network is gone", async () => {
  await using network = await createTcpProxy(world.gatewayUrl)
  await using fixture = await openCockpit(world, browser)
  const { owner, sessionId } = fixture
  await owner.patch('/api/client/profile', {
    company_name: 'Works',
    contact_email: `${owner.name}@test.local`,
  })
  const { page, context } = await browser.enter(owner, '/dashboard')
  await throughNetwork(context, network.url)
  await page.goto(`${world.baseUrl}/dashboard/sessions/${sessionId}`)
  await untilState(page, 'LIVE')
  await page.getByText('Robot connected').waitFor()
  await page.getByRole('tab', { name: 'Values' }).click()
  await page.getByText(/\d+ ms old$/).waitFor()
  await page.getByRole('banner').getByText('Live', { exact: true }).waitFor()
  network.silence()
  await untilState(page, 'BLIND')
  await page.getByRole('banner').getByText('Outdated', { exact: true }).waitFor()
  await page.getByText('last known', { exact: true }).first().waitFor()
  await page.locator('dl[data-stale]').waitFor()
  expect(await greenBadges(page)).toEqual([])
  expect(await seriousIssues(page)).toEqual([])
  network.restore()
  await untilState(page, 'LIVE')
  await page.getByRole('banner').getByText('Live', { exact: true }).waitFor()
})

/** Returns the texts of badges whose background is green: its green part is the largest by far. */
const greenBadges = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.mantine-Badge-root, [data-testid="freshness"]')]
    .filter((badge) => {
      const [red, green, blue] = getComputedStyle(badge).backgroundColor.match(/[\\d.]+/g).map(Number)
      return green > red * 1.5 && green >= blue
    })
    .map((badge) => badge.textContent)`) as Promise<string[]>
