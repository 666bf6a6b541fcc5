import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connectRobot, forgiveSlowStops, openCockpit } from '../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../support/browser/console.ts'
import { createTcpProxy } from '../support/network/tcp-proxy.ts'
import { createWorld, type World } from '../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

/** Clears the stop, and waits until it is gone. */
async function clearStop(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Clear the stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear the stop' }).click()
  await page.getByRole('button', { name: 'Clear the stop' }).first().waitFor({ state: 'hidden' })
}

/** The gateway knows: before, keys count for nothing. */
const isActive = (page: Page) =>
  page.getByRole('region', { name: 'State' }).getByText('Active', { exact: true }).waitFor()

const stopBar = (page: Page) => page.getByRole('region', { name: 'Emergency stop' })

/** Settles once the page has drawn, and so asked its gamepads, twice. */
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

test('keys drive while they are held, and not while a text field has the focus', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  const { xM } = robot.state
  await page.keyboard.down('ArrowUp')
  await vi.waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.2), 5_000)
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()

  const { headingRad } = robot.state
  await page.keyboard.down('a')
  await vi.waitFor(() => expect(robot.state.headingRad).toBeGreaterThan(headingRad + 0.2), 5_000)
  await page.keyboard.up('a')
  await fixture.expectHalted()

  await page.keyboard.down('w')
  await fixture.moving()
  await page.getByRole('textbox').first().focus()
  await fixture.expectHalted()
  const sent = await fixture.commands()
  await page.keyboard.up('w')
  await page.keyboard.press('w', { delay: 100 })
  await page.keyboard.press('Space')
  expect(await page.getByRole('textbox').first().inputValue()).toMatch(/w $/)
  expect(await fixture.commands()).toEqual(sent)
  expect((await fixture.read()).control.stop).toBeNull()
})

test.each([
  ['the window loses the focus', (page: Page) => page.evaluate("window.dispatchEvent(new Event('blur'))")],
  [
    'the tab is hidden',
    (page: Page) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { value: true })
        document.dispatchEvent(new Event('visibilitychange'))`),
  ],
  ['another page is opened', (page: Page) => page.getByRole('link', { name: 'Settings' }).click()],
  ['the page is left', (page: Page) => page.goto('about:blank')],
])('the robot stands as soon as %s, though the key is still down', async (how, leave) => {
  await using fixture = await openCockpit(world, browser)
  await fixture.page.keyboard.down('ArrowUp')
  await fixture.moving()
  await leave(fixture.page)
  await fixture.expectHalted()
  if (how === 'the page is left') return
  const sent = await fixture.commands()
  expect(sent.zero).toBe(1)
  await fixture.page.keyboard.down('ArrowUp') // as a key that is held goes on saying
  expect(await fixture.commands()).toEqual(sent)
})

test('the stick drives by pointer, within the speed limit, which is remembered', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  await page.getByRole('slider', { name: 'Speed limit' }).focus()
  await page.keyboard.press('Home')
  await page.getByText('Speed limit: 5 %').waitFor()
  await page.getByRole('application', { name: /^Stick/ }).scrollIntoViewIfNeeded()
  const box = (await page.getByRole('application', { name: /^Stick/ }).boundingBox()) as {
    x: number
    y: number
  }
  await page.mouse.move(box.x + 66, box.y + 66)
  await page.mouse.down()
  await page.mouse.move(box.x + 66, box.y + 6)
  await fixture.moving()
  await vi.waitFor(() => expect(robot.state.leftMps).toBeCloseTo(0.045, 2), 5_000)
  expect(robot.state.leftMps).toBeLessThanOrEqual(0.05)
  await page.mouse.up()
  await fixture.expectHalted()

  await page.reload()
  await page.getByText('Speed limit: 5 %').waitFor()
})

test('a gamepad drives beyond its dead zone, which can be set, and its button stops', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  await page.evaluate(`
    window.pad = { id: 'Test pad', connected: true, axes: [0, -0.1], buttons: [{ pressed: false }, { pressed: false }] }
    navigator.getGamepads = () => [null, window.pad]`)
  await page.getByText(/Gamepad: Test pad/).waitFor()
  await page.getByText('Dead zone: 15 %').waitFor()
  await page.evaluate('window.pad.axes = [0.1, -0.14]')
  await page.evaluate(TWO_FRAMES)
  expect(await fixture.commands()).toEqual({ moving: 0, zero: 0 })
  const { xM } = robot.state
  await page.evaluate('window.pad.axes = [0, -1]')
  await vi.waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.1), 5_000)

  await page.evaluate('window.pad.axes = [0, -0.3]')
  await page.getByRole('slider', { name: 'Dead zone' }).focus()
  await page.keyboard.press('End')
  await fixture.expectHalted()

  await page.evaluate('window.pad.axes = [0, -1]')
  await fixture.moving()
  await page.evaluate('window.pad.buttons[1].pressed = true')
  await fixture.expectHalted()
  await stopBar(page).getByText('Stopped:').waitFor()
  expect((await fixture.read()).control.stop.by).toBe(fixture.operator.id)
})

test('a stop by key holds until it is cleared, and nothing moves until the session is resumed', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.keyboard.down('ArrowUp')
  await fixture.moving()
  await page.getByRole('button', { name: 'Pause' }).focus()
  await page.keyboard.press('Space')
  await fixture.expectHalted()
  await stopBar(page).getByText('Stopped: stopped from the cockpit, by you.').waitFor()
  await page.getByText('Paused', { exact: true }).first().waitFor()
  expect(await fixture.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'emergency_stop' })

  await clearStop(page)
  expect(await fixture.read()).toMatchObject({ status: 'PAUSED', control: { stop: null } })
  await page.getByRole('button', { name: 'Resume' }).click()
  await isActive(page)
  await vi.waitFor(async () => expect((await fixture.read()).status).toBe('ACTIVE'), 10_000)

  // The key has been down all the time: it has to be pressed anew.
  const sent = await fixture.commands()
  await page.keyboard.down('ArrowUp')
  expect(await fixture.commands()).toEqual(sent)
  await page.keyboard.up('ArrowUp')
  await page.keyboard.down('ArrowUp')
  await fixture.moving()
  await page.getByRole('button', { name: /^STOP/ }).click()
  await fixture.expectHalted()
  await stopBar(page).getByText('Stopped:').waitFor()
})

test('the stop of the owner is shown as theirs', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await stopBar(page).getByText('Stopped: cat on the floor, by the owner.').waitFor()
})

test('a stop of the owner is not the operator’s to clear: one key asks for it, and the owner clears it', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await page.getByRole('button', { name: 'Ask to clear' }).waitFor()
  expect(await page.getByRole('button', { name: 'Clear the stop' }).count()).toBe(0)
  await page.keyboard.press('c')
  await page.getByText('You asked for it').waitFor()
  const { notifications } = (await owner.get('/api/notifications?limit=1')).body
  expect(notifications).toMatchObject([{ type: 'session.stop_clear_requested' }])

  await owner.patch('/api/client/profile', { contact_email: 'owner@test.local' })
  const owners = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  await owners.page.getByText('The operator asks you to clear the stop').waitFor()
  await clearStop(owners.page)
  await owners.context.close()
  await page.getByRole('button', { name: 'Resume' }).click()
  await isActive(page)
})

test('pause, resume, and end after a question', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  await isActive(page)
  await page.getByRole('button', { name: 'End', exact: true }).click()
  expect((await fixture.read()).status).toBe('ACTIVE')
  await page.getByRole('dialog').getByRole('button', { name: 'End the session' }).click()
  await page.getByText('This session is over').waitFor()
  expect((await fixture.read()).status).toBe('COMPLETED')
})

test('a robot that is lost and comes back is shown', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot, robotId: id, robotToken: token } = fixture
  await page.getByText('Robot connected').waitFor()
  await robot.close()
  await page.getByText('Robot away').waitFor()
  const back = await connectRobot(world, { id, token })
  try {
    await page.getByText('Robot connected').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await isActive(page)
    const { xM } = back.state
    await page.keyboard.down('ArrowUp')
    await vi.waitFor(() => expect(back.state.xM).toBeGreaterThan(xM), 5_000)
  } finally {
    await back.close()
  }
})

test('a cut network is shown; a stop then takes the other way; the link comes back by itself', async () => {
  await using network = await createTcpProxy(world.gatewayUrl)
  await using fixture = await openCockpit(world, browser)
  const { page, context } = fixture
  await context.route('**/ticket', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const url = new URL(body.url)
    url.host = new URL(network.url).host
    await route.fulfill({ response, json: { ...body, url: url.href } })
  })
  await page.reload()
  await page.getByText('Linked', { exact: true }).waitFor()
  await page.keyboard.down('ArrowUp')
  await fixture.moving()
  network.cut()
  await fixture.expectHalted()
  await page.getByText('The link to the robot is lost').waitFor()
  await page.getByRole('button', { name: /^STOP/ }).click()
  await stopBar(page).getByText('Stopped: stopped from the cockpit, by you.').waitFor()
  expect((await fixture.read()).control.stop.by).toBe(fixture.operator.id)

  await clearStop(page)
  network.restore()
  await page.getByText('Linked', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await isActive(page)
  await page.keyboard.up('ArrowUp')
  await page.keyboard.down('ArrowUp')
  await fixture.moving()
})

test('a second window takes the wheel, and the first one can take it back', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, context, path } = fixture
  const second = await context.newPage()
  await second.goto(world.baseUrl + path)
  await second.getByText('Linked', { exact: true }).waitFor()
  await page.getByText('Driven elsewhere').waitFor()
  const sent = await fixture.commands()
  await page.keyboard.press('ArrowUp')
  expect(await fixture.commands()).toEqual(sent)
  await page.getByRole('button', { name: 'Take over here' }).click()
  await page.getByText('Linked', { exact: true }).waitFor()
  await second.getByText('Driven elsewhere').waitFor()
  await page.keyboard.down('ArrowUp')
  await fixture.moving()
})

test('telemetry is drawn: pose, speed, battery, how old', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const telemetry = page.getByRole('region', { name: 'Telemetry' })
  await telemetry.getByRole('img', { name: /the robot is at 50.0 m, 50.0 m, heading 0 degrees/ }).waitFor()
  await telemetry.getByText('90 %').waitFor()
  await telemetry.getByText(/\d+ ms old/).waitFor()
  await page.keyboard.down('ArrowUp')
  await telemetry.getByText('0.50 m/s').waitFor()
  await page.keyboard.up('ArrowUp')
  await page.getByText(/Command to answer/).waitFor()
  await page
    .getByText(/ms, p95/)
    .first()
    .waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
] as const)('the cockpit is accessible: %s, %i pixels wide', async (colorScheme, width) => {
  await using fixture = await openCockpit(world, browser, {
    page: { colorScheme, viewport: { width, height: 740 }, hasTouch: width === 360 },
  })
  const { page } = fixture
  expect(await seriousIssues(page)).toEqual([])
  const overflow = () => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  expect(await overflow()).toBeLessThanOrEqual(0)
  await page.getByRole('button', { name: /^STOP/ }).click()
  await page.getByRole('button', { name: 'Clear the stop' }).waitFor()
  expect(await seriousIssues(page), 'stopped').toEqual([])
  expect(await overflow()).toBeLessThanOrEqual(0)
})

test('nobody but its operator drives a session', async () => {
  await using fixture = await openCockpit(world, browser)
  const { owner, path } = fixture
  await owner.request('PATCH', '/api/client/profile', { contact_email: 'a@test.local', country: 'DE' })
  const { page, context } = await browser.enter(owner, path)
  await page.getByText('You do not drive this session').waitFor()
  await context.close()
})
