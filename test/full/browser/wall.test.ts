import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import { forgiveSlowStops } from '../../support/browser/cockpit.ts'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { holdUntil } from '../../support/browser/hold.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
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

/** Registers and connects robots of an owner, by name. */
async function connected(owner: TestUser, names: readonly string[], stream_url = '') {
  const robots = []
  for (const name of names) {
    const robot = await world.robot(owner, { name, stream_url })
    ;(await world.connect(robot)).beat()
    robots.push(robot)
  }
  return robots
}

const tile = (page: Page, name: string) => page.getByTestId('live-tile').filter({ hasText: name })
const sessionOf = async (owner: TestUser, id: string) => (await owner.get(`/api/sessions/${id}`)).body

test('the wall shows live robots with state, operator, clock and age, and follows changes', async () => {
  const [owner, operator, other] = [await readyOwner(world), await world.operator(), await readyOwner(world)]
  await world.robot(owner, { name: 'Offline one' })
  const [arm, cart] = await connected(owner, ['Arm', 'Cart'])
  await connected(other, ['Foreign'])
  const sessionId = await start(operator, arm!.id)
  const { page } = await browser.enter(owner, '/dashboard/live')
  await heading(page, 'Live')
  await tile(page, 'Arm').getByText('Driving', { exact: true }).waitFor()
  await tile(page, 'Arm').getByText(operator.name).waitFor()
  expect(await tile(page, 'Arm').getByTestId('session-clock').textContent()).toMatch(/^\d+:\d\d$/)
  await tile(page, 'Arm').getByText('No camera').waitFor()
  await tile(page, 'Cart').getByText('Ready', { exact: true }).waitFor()
  await tile(page, 'Cart').getByText('Ready', { exact: true }).waitFor()
  expect(await page.getByTestId('live-tile').count()).toBe(2)
  expect(await tile(page, 'Cart').getByTestId('stop').count()).toBe(0)
  await expectAccessibleLayout(page, 'the wall')

  await performAction(operator, sessionId, 'pause')
  await tile(page, 'Arm').getByText('Paused', { exact: true }).waitFor()
  const second = await start(await world.operator(), cart!.id)
  await tile(page, 'Cart').getByText('Driving', { exact: true }).waitFor()
  await performAction(owner, second, 'end')
  await tile(page, 'Cart').getByText('Ready', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Cart', exact: true }).click()
  await heading(page, 'Cart')
})

test('a tile stops its robot only; "Stop all" stops every robot and reports each failure', async () => {
  const owner = await readyOwner(world)
  const names = ['One', 'Two', 'Three', 'Four']
  const robots = await connected(owner, names)
  const sessions = await Promise.all(robots.map(async ({ id }) => start(await world.operator(), id)))
  const { page } = await browser.enter(owner, '/dashboard/live')
  const stopped = tile(page, 'One').getByText('Stopped', { exact: true })
  const stop = tile(page, 'One').getByRole('button', { name: 'Hold to stop One' })
  await stop.click()
  expect(await page.getByTestId('stop').count(), 'a click holds nothing').toBe(4)
  await holdUntil(stop, () => stopped.waitFor())
  await tile(page, 'One').getByText(`by ${owner.name},`).waitFor()
  await page.locator('[data-section=needs]').filter({ hasText: 'One' }).waitFor()
  expect((await sessionOf(owner, sessions[1]!)).status).toBe('ACTIVE')

  // The page does not see that this session ends.
  await page.route('**/api/client/live-robots', (route) => route.abort())
  await performAction(owner, sessions[3]!, 'end')
  const results = page.getByRole('region', { name: 'Stop results' })
  await holdUntil(page.getByTestId('stop-all'), () => results.getByText(/ of 4$/).waitFor())
  await results.getByText('Stopped: 3 of 4').waitFor()
  await results.getByRole('listitem').filter({ hasText: 'Four' }).getByText('Not stopped.').waitFor()
  for (const id of sessions.slice(0, 3)) {
    expect(await sessionOf(owner, id)).toMatchObject({
      status: 'PAUSED',
      control: { stop: { by: owner.id } },
    })
  }

  await page.unroute('**/api/client/live-robots')
  await tile(page, 'Four').getByText('Ready', { exact: true }).waitFor()
  await results.getByRole('button', { name: 'Hide results' }).click()
  await holdUntil(page.getByTestId('stop-all'), () => results.getByText('Stopped: 3 of 3').waitFor())
  await expectAccessibleLayout(page, 'the results of the stops')
})

test('stops that were requested without a connection are sent as soon as there is one', async () => {
  const owner = await readyOwner(world)
  const robots = await connected(owner, ['Left', 'Right'])
  const sessions = await Promise.all(robots.map(async ({ id }) => start(await world.operator(), id)))
  const { page, context } = await browser.enter(owner, '/dashboard/live')
  await tile(page, 'Right').getByTestId('stop').waitFor()
  await context.setOffline(true)
  await tile(page, 'Right').getByText('Unknown', { exact: true }).waitFor()
  const results = page.getByRole('region', { name: 'Stop results' })
  await holdUntil(page.getByTestId('stop-all'), () => results.getByText('Stopped: 0 of 2').waitFor())
  expect(await results.getByText('Stop requested. Not confirmed yet.').count()).toBe(2)
  await context.setOffline(false)
  await results.getByText('Stopped: 2 of 2').waitFor()
  for (const id of sessions) expect((await sessionOf(owner, id)).control.stop).not.toBeNull()
})

test('a tile shows whether its picture and its state can be trusted', async () => {
  await using camera = await createTestCamera()
  const owner = await readyOwner(world)
  await connected(owner, ['Filmed'], camera.url)
  const { page } = await browser.enter(owner, '/dashboard/live')
  const filmed = tile(page, 'Filmed')
  const untilState = (state: string) =>
    filmed
      .getByTestId('freshness')
      .and(page.locator(`[data-state=${state}]`))
      .waitFor()
  await untilState('READY')
  await filmed.locator('[class*=missing]').waitFor({ state: 'detached' })
  camera.freeze(true)
  await untilState('BLIND')
  await expectAccessibleLayout(page, 'the wall with an old picture')
  camera.freeze(false)
  await untilState('READY')
})

test('keys open the numbered tile, find a robot and hold the stop of the chosen one', async () => {
  const owner = await readyOwner(world)
  const [left, right] = await connected(owner, ['Left', 'Right'])
  for (const { id } of [left!, right!]) await start(await world.operator(), id)
  const { page } = await browser.enter(owner, '/dashboard/live')
  await tile(page, 'Right').getByTestId('stop').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('rig')
  await tile(page, 'Left').waitFor({ state: 'detached' })
  await page.getByRole('searchbox').fill('')
  await page.getByRole('link', { name: 'Right', exact: true }).focus()
  await page.keyboard.down('s')
  await tile(page, 'Right').getByText('Stopped', { exact: true }).waitFor()
  await page.keyboard.up('s')
  await page.getByText('Driving 1').waitFor()
  await page.locator('label').filter({ hasText: 'Needs you 1' }).click()
  await waitFor(() => expect(new URL(page.url()).searchParams.get('show')).toBe('needs'))
  await tile(page, 'Left').waitFor({ state: 'detached' })
  await page.mouse.move(1, 1)
  await page.keyboard.press('1')
  const question = page.getByRole('dialog')
  await question.waitFor()
  await expectAccessibleLayout(page, 'the question before a clear')
  await question.getByRole('button', { name: 'Clear stop' }).click()
  await tile(page, 'Right').waitFor({ state: 'detached' })
})

test('a wall of 100 tiles loads a bounded number of pictures and shows others on request', async () => {
  await using camera = await createTestCamera()
  const owner = await readyOwner(world)
  const names = Array.from({ length: 100 }, (_, index) => `Robot ${index + 1}`)
  await connected(owner, names, camera.url)
  const { page } = await browser.enter(owner, '/dashboard/live', { viewport: { width: 1440, height: 900 } })
  await waitFor(async () => expect(await page.getByTestId('live-tile').count()).toBe(100))
  await waitFor(() => expect(camera.viewers()).toBe(4))
  await page.getByText('L', { exact: true }).click()
  const waiting = page.getByRole('button', { name: /^Show the picture of/ })
  expect(await waiting.count()).toBeGreaterThan(0)
  const name = (await waiting.first().getAttribute('aria-label'))!.replace('Show the picture of ', '')
  await waiting.first().click()
  await page.getByRole('region', { name: `Camera of ${name}`, exact: true }).waitFor()
  await waitFor(() => expect(camera.viewers()).toBe(4))

  await page.getByRole('link', { name: 'Robot 100', exact: true }).scrollIntoViewIfNeeded()
  const last = page.getByRole('region', { name: 'Camera of Robot 100', exact: true })
  const showLast = page.getByRole('button', { name: 'Show the picture of Robot 100', exact: true })
  await last.or(showLast).waitFor()
  if ((await showLast.count()) > 0) await showLast.click()
  await last.waitFor()
  await waitFor(() => expect(camera.viewers()).toBeLessThanOrEqual(4))
  expect(await page.getByRole('region', { name: 'Camera of Robot 1', exact: true }).count()).toBe(0)
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await waitFor(() => expect(camera.viewers()).toBe(0))
})
