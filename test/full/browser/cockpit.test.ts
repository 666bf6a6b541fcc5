import type { WebSocketSettings } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  connectRobot,
  forgiveSlowStops,
  holdToClear,
  leaveCockpit,
  openCockpit,
  openDetails,
  runCommand,
  SLOW_RELOADS,
  showValues,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
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

const stopCall = (page: Page) => page.getByTestId('stop-banner')

test('held keys drive the robot, except while a text field has the focus', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  const { xM } = robot.state
  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.2))
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()

  const { headingRad } = robot.state
  await page.keyboard.down('a')
  await waitFor(() => expect(robot.state.headingRad).toBeGreaterThan(headingRad + 0.2))
  await page.keyboard.up('a')
  await fixture.expectHalted()

  await page.keyboard.press('l')
  await page.keyboard.down('w')
  await fixture.expectMoving()
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
  ['the user opens another page', (page: Page) => leaveCockpit(page)],
  ['the user leaves the site', (page: Page) => page.goto('about:blank')],
])('the robot stops as soon as %s, although the key is still down', async (event, leave) => {
  await using fixture = await openCockpit(world, browser)
  await fixture.page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await leave(fixture.page)
  await fixture.expectHalted()
  if (event === 'the user leaves the site') return
  const sent = await fixture.commands()
  expect(sent.zero).toBe(1)
  await fixture.page.keyboard.down('ArrowUp') // a held key repeats
  expect(await fixture.commands()).toEqual(sent)
})

test('the stick drives within the speed limit, which the browser stores', async () => {
  await using fixture = await openCockpit(world, browser, { page: { hasTouch: true } })
  const { page, robot } = fixture
  const limit = page.getByRole('slider', { name: 'Speed limit' })
  const limitText = () => limit.getAttribute('aria-valuetext')
  await limit.focus()
  await page.keyboard.press('Home')
  await waitFor(async () => expect(await limitText()).toMatch(/^Speed limit: 5 % /))
  const box = (await page.getByRole('application', { name: /^Stick/ }).boundingBox()) as {
    x: number
    y: number
  }
  await page.mouse.move(box.x + 66, box.y + 66)
  await page.mouse.down()
  await page.mouse.move(box.x + 66, box.y + 6)
  await fixture.expectMoving()
  await waitFor(() => expect(robot.state.leftMps).toBeCloseTo(0.045, 2))
  expect(robot.state.leftMps).toBeLessThanOrEqual(0.05)
  await page.mouse.up()
  await fixture.expectHalted()

  await page.reload()
  await waitFor(async () => expect(await limitText()).toMatch(/^Speed limit: 5 % /))
})

test('the cockpit says that the latency limits the speed, and slows its commands down', async () => {
  /** A robot that never answers a ping, so that its latency stays unknown. */
  class SilentSocket extends WebSocket {
    constructor(url: string, options: WebSocketSettings) {
      super(url, { ...options, autoPong: false })
    }
  }
  await using fixture = await openCockpit(world, browser, {
    robot: { latency_budget_ms: 200 },
    WebSocket: SilentSocket,
  })
  const { page, robot, owner, robotId } = fixture
  const status = page.getByTestId('speed')
  await status.getByText('Speed limited to 5%: the latency is not known yet').waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  const { xM } = robot.state
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.01))
  expect(robot.state.leftMps).toBeCloseTo(0.5 * 0.05)

  await owner.patch(`/api/client/robots/${robotId}`, { latency_budget_ms: null })
  await status.getByText(/^Speed limited/).waitFor({ state: 'detached' })
  await waitFor(() => expect(robot.state.leftMps).toBeGreaterThan(0.3))
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()
})

test('the cockpit builds its inputs from the control schema of the robot', async () => {
  const speed = { type: 'number', minimum: -0.4, maximum: 0.4, 'x-unit': 'm/s', 'x-speed': true }
  const control_schema = {
    type: 'object',
    properties: {
      linear_mps: speed,
      angular_radps: { ...speed, 'x-unit': 'rad/s' },
      gripper: { type: 'number', minimum: 0, maximum: 1, title: 'Gripper' },
      arm: {
        type: 'object',
        properties: { joints: { type: 'array', items: { type: 'number' }, maxItems: 2 } },
      },
      mode: { type: 'string', enum: ['fast', 'slow'], title: 'Mode' },
      lamp: { type: 'boolean', title: 'Lamp' },
      lift_mps: { ...speed, title: 'Lift speed' },
    },
    additionalProperties: false,
  }
  await using fixture = await openCockpit(world, browser, {
    settings: { control_schema, strict_control: true },
  })
  const { page, robot } = fixture
  const limit = page.getByRole('slider', { name: 'Speed limit' })
  await limit.waitFor()
  expect(await limit.getAttribute('aria-valuetext')).toBe('Speed limit: 50 % (0.20 m/s and 0.20 rad/s)')
  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.leftMps).toBeCloseTo(0.2))
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()

  const inputs = page.getByRole('region', { name: 'Robot inputs' })
  await inputs.getByLabel('Gripper').fill('0.5')
  await inputs.getByLabel('arm joints 1').fill('-2')
  await inputs.getByRole('combobox', { name: 'Mode' }).click()
  await page.getByRole('option', { name: 'slow' }).click()
  await inputs.getByRole('combobox', { name: 'Lamp' }).click()
  await page.getByRole('option', { name: 'on' }).click()
  expect(await seriousIssues(page)).toEqual([])
  const atRest = { linear_mps: 0, angular_radps: 0 }
  const held = { ...atRest, gripper: 0.5, mode: 'slow', lamp: true }
  const button = inputs.getByRole('button', { name: 'Hold to send' })
  const lastCommand = () => page.evaluate('window.lastCommand')
  await button.focus()
  await page.keyboard.down('Enter')
  await waitFor(async () => expect(await lastCommand()).toEqual(held))
  await page.keyboard.up('Enter')
  await waitFor(async () => expect(await lastCommand()).toEqual(atRest))

  await inputs.getByLabel('arm joints 2').fill('1')
  await button.hover()
  await page.mouse.down()
  await waitFor(async () => expect(await lastCommand()).toEqual({ ...held, arm: { joints: [-2, 1] } }))
  await page.evaluate("window.dispatchEvent(new Event('blur'))")
  await waitFor(async () => expect(await lastCommand()).toEqual(atRest))
  // A busy machine may drop commands as too old. The robot has accepted all others.
  expect(await page.evaluate('window.dropReasons')).not.toContain('invalid')
})

test('a stop by key is in force until cleared, and the robot moves only after the session is resumed', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.getByTestId('menu').focus()
  await page.keyboard.press('Space')
  await fixture.expectHalted()
  await stopCall(page)
    .getByText(/You stopped/)
    .waitFor()
  await stopCall(page)
    .getByText(/from the cockpit\./)
    .waitFor()
  await page.getByRole('region', { name: 'Status' }).getByText('Stopped', { exact: true }).waitFor()
  await waitFor(async () =>
    expect(await fixture.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'emergency_stop' }),
  )

  // A press is not enough.
  await page.getByTestId('clear-stop').click()
  expect((await fixture.read()).control.stop).not.toBeNull()
  await holdToClear(page)
  await waitUntilDriving(page)
  await waitFor(async () =>
    expect(await fixture.read()).toMatchObject({ status: 'ACTIVE', control: { stop: null } }),
  )

  // The key was down all the time and must be pressed again.
  const sent = await fixture.commands()
  await page.keyboard.down('ArrowUp')
  expect(await fixture.commands()).toEqual(sent)
  await page.keyboard.up('ArrowUp')
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.getByRole('button', { name: /^STOP/ }).click()
  await fixture.expectHalted()
  await stopCall(page)
    .getByText(/You stopped/)
    .waitFor()
})

test('the cockpit attributes a stop to the owner', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await stopCall(page).getByText('Stopped by the owner').waitFor()
  await stopCall(page)
    .getByText(/cat on the floor\./)
    .waitFor()
})

test('an operator cannot clear a stop of the owner, but can ask the owner with one key', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat on the floor' })
  await page.getByRole('button', { name: 'Ask to clear' }).waitFor()
  expect(await page.getByTestId('clear-stop').count()).toBe(0)
  // A call ignores its key for half a second.
  await waitFor(async () => {
    await page.keyboard.press('c')
    expect(await stopCall(page).innerText()).toMatch(/Requested /)
  })
  const { notifications } = (await owner.get('/api/notifications?limit=1')).body
  expect(notifications).toMatchObject([{ type: 'session.stop_clear_requested' }])

  await owner.patch('/api/client/profile', { contact_email: 'owner@test.local' })
  const ownerBrowser = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  await ownerBrowser.page.getByText('The operator asks you to clear the stop').waitFor()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'clear_stop' })
  await ownerBrowser.context.close()
  await page.getByRole('button', { name: 'Resume' }).click()
  await waitUntilDriving(page)
})

test('an operator pauses, resumes and, after a confirmation, ends a session', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await runCommand(page, 'pause')
  await page.getByRole('button', { name: 'Resume' }).click()
  await waitUntilDriving(page)
  await runCommand(page, 'end')
  expect((await fixture.read()).status).toBe('ACTIVE')
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Session ended').waitFor()
  expect((await fixture.read()).status).toBe('COMPLETED')
})

test('the cockpit shows when the robot disconnects and reconnects', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot, robotId: id, robotToken: token } = fixture
  const status = page.getByRole('region', { name: 'Status' })
  await openDetails(page)
  await status.getByText('Robot connected').waitFor()
  await robot.close()
  await status.getByText('Robot offline', { exact: true }).waitFor()
  await status.getByText('Lost', { exact: true }).waitFor()
  await page.getByText('The robot lost its connection.').waitFor()
  const reconnected = await connectRobot(world, { id, token })
  try {
    await status.getByText('Robot connected').waitFor()
    await page.getByText('Resume when you are ready.').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await waitUntilDriving(page)
    const { xM } = reconnected.state
    await page.keyboard.down('ArrowUp')
    await waitFor(() => expect(reconnected.state.xM).toBeGreaterThan(xM))
  } finally {
    await reconnected.close()
  }
})

test('during a gateway outage the cockpit shows it, stops over another route, and reconnects by itself', async () => {
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
  await page.getByText('Connected', { exact: true }).waitFor()
  await waitUntilDriving(page)
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  network.cut()
  await fixture.expectHalted()
  await page.getByText('Connection to the robot lost').waitFor()
  await page.getByRole('button', { name: /^STOP/ }).click()
  await stopCall(page)
    .getByText(/You stopped/)
    .waitFor()
  await waitFor(async () => expect((await fixture.read()).control.stop?.by).toBe(fixture.operator.id))

  await holdToClear(page)
  network.restore()
  await page.getByText('Connected', { exact: true }).waitFor()
  await waitUntilDriving(page)
  await page.keyboard.up('ArrowUp')
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
})

test('a second window takes control, and the first one can take it back', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, context, path } = fixture
  const second = await context.newPage()
  await second.goto(world.baseUrl + path)
  await second.getByText('Connected', { exact: true }).waitFor()
  await page.getByText('Open in another window').waitFor()
  const sent = await fixture.commands()
  await page.keyboard.press('ArrowUp')
  expect(await fixture.commands()).toEqual(sent)
  await page.getByRole('button', { name: 'Take control' }).click()
  await page.getByText('Connected', { exact: true }).waitFor()
  await second.getByText('Open in another window').waitFor()
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
})

test('the telemetry panel shows pose, speed, battery and age', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const telemetry = await showValues(page)
  await telemetry.getByRole('img', { name: /the robot is at 50.0 m, 50.0 m, heading 0 degrees/ }).waitFor()
  await telemetry.getByText('90 %').waitFor()
  await telemetry.getByText(/\d+ ms old/).waitFor()
  await page.keyboard.down('ArrowUp')
  await telemetry.getByText('0.50 m/s').waitFor()
  await page.keyboard.up('ArrowUp')
  await openDetails(page)
  await page.getByText(/Command round trip/).waitFor()
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
  await page.getByTestId('clear-stop').waitFor()
  expect(await seriousIssues(page), 'stopped').toEqual([])
  expect(await overflow()).toBeLessThanOrEqual(0)
})

test('the owner takes control in the cockpit and returns it; held keys of the operator move nothing', async () => {
  await using fixture = await openCockpit(world, browser)
  const { owner, path, page: operatorPage } = fixture
  await owner.request('PATCH', '/api/client/profile', { contact_email: 'a@test.local', country: 'DE' })
  const { page, context } = await browser.enter(owner, path)
  await page.getByTestId('control-other').waitFor()
  await operatorPage.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.getByTestId('control-other').getByRole('button', { name: 'Take control' }).click()
  const other = operatorPage.getByTestId('control-other')
  await other.waitFor()
  await fixture.expectHalted()
  expect(await other.getByRole('button').textContent()).toContain('Ask for control')
  await page.getByTestId('control-other').waitFor({ state: 'detached' })
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.keyboard.up('ArrowUp')
  await page.keyboard.press('t')
  await other.waitFor({ state: 'detached' })
  await fixture.expectHalted()
  await operatorPage.keyboard.up('ArrowUp')
  await operatorPage.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await operatorPage.keyboard.up('ArrowUp')
  await context.close()
})
