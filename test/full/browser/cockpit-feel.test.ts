import { RobotLink, type RobotLinkOptions } from '@wheelhouse/sdk'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  type CockpitFixture,
  forgiveSlowStops,
  openCockpit,
  showValues,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
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

/** Replaces the simulated robot by one that sends a sample ten times a second. */
async function replaceRobot(
  { robotId, robotToken }: CockpitFixture,
  sample: unknown,
  options: Partial<RobotLinkOptions> = {},
) {
  const url = `${world.gatewayUrl}/robots/${robotId}/control`
  const link = new RobotLink({ url, token: robotToken, ...options })
  onTestFinished(() => link.close())
  await link.connect()
  const sending = setInterval(() => link.telemetry(sample), 100)
  onTestFinished(() => clearInterval(sending))
  return link
}

test('speeds beyond driving move while their slider is held, and return to 0', async () => {
  const speed = { type: 'number', minimum: -0.4, maximum: 0.8, 'x-unit': 'm/s', 'x-speed': true }
  const control_schema = {
    type: 'object',
    properties: {
      linear_mps: speed,
      lift_mps: { ...speed, title: 'Lift speed' },
      arm: { type: 'array', items: { ...speed, 'x-unit': 'rad/s' }, minItems: 2, maxItems: 2, title: 'Arm' },
    },
    additionalProperties: false,
  }
  await using fixture = await openCockpit(world, browser, {
    settings: { control_schema, strict_control: true },
  })
  const { page } = fixture
  const lift = page.getByRole('slider', { name: /Lift speed/ })
  await lift.waitFor()
  expect(await seriousIssues(page)).toEqual([])
  const lastCommand = () => page.evaluate('window.lastCommand')
  const expectCommand = (command: unknown) =>
    waitFor(async () => expect(await lastCommand()).toEqual(command))

  // The speed limit is 50 %.
  await lift.focus()
  await page.keyboard.down('ArrowUp')
  await expectCommand({ linear_mps: 0, lift_mps: 0.4 })
  await page.getByText('Lift speed: 0.40 m/s').waitFor()
  await page.keyboard.up('ArrowUp')
  await expectCommand({ linear_mps: 0, lift_mps: 0 })
  await page.getByText('Lift speed: 0.00 m/s').waitFor()

  // A list is sent as a whole. The pointer at the left end is the full speed backwards.
  const { x, y, width, height } = (await page.getByRole('slider', { name: /Arm 2/ }).boundingBox())!
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x - 5, y + height / 2)
  await expectCommand({ linear_mps: 0, arm: [0, -0.2] })
  await page.mouse.up()
  await expectCommand({ linear_mps: 0, arm: [0, 0] })

  // A slider that loses the focus is released until the operator takes it again.
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + width + 5, y + height / 2)
  await expectCommand({ linear_mps: 0, arm: [0, 0.4] })
  await page.evaluate("window.dispatchEvent(new Event('blur'))")
  await expectCommand({ linear_mps: 0, arm: [0, 0] })
  await page.mouse.move(x + width, y + height / 2)
  expect(await lastCommand()).toEqual({ linear_mps: 0, arm: [0, 0] })
  await page.mouse.up()
  await lift.focus()
  await page.keyboard.down('ArrowDown')
  await expectCommand({ linear_mps: 0, lift_mps: -0.2 })
  await page.keyboard.press('Space')
  await page.getByTestId('clear-stop').waitFor()
  expect(await lastCommand(), 'a stop releases it').toEqual({ linear_mps: 0, lift_mps: 0 })
  await page.keyboard.up('ArrowDown')
})

test('a congested connection is marked, and recovers', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.evaluate(`
    window.dropPings = true
    const send = WebSocket.prototype.send
    WebSocket.prototype.send = function (frame) {
      if (window.dropPings && typeof frame === 'string' && frame.startsWith('{"type":"ping"')) return
      return send.call(this, frame)
    }`)
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  const status = page.getByTestId('speed')
  await status.getByText(/Connection busy: no answer, \d+ commands a second/).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await fixture.expectMoving()
  await page.evaluate('window.dropPings = false')
  await status.getByText(/Connection busy/).waitFor({ state: 'detached' })
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()
})

test('the telemetry of every declared kind is shown with its unit', async () => {
  const number = (unit: string) => ({ type: 'number', 'x-unit': unit })
  const position = { x_m: number('m'), y_m: number('m'), heading_rad: number('rad') }
  const ranges_m = { type: 'array', items: number('m'), maxItems: 720 }
  const angles = { angle_min_rad: number('rad'), angle_increment_rad: number('rad') }
  const sighting = { type: 'object', properties: { distance_m: number('m'), bearing_rad: number('rad') } }
  const telemetry_schema = {
    type: 'object',
    properties: {
      base: { type: 'object', 'x-kind': 'pose', properties: position },
      motion: {
        type: 'object',
        'x-kind': 'velocity',
        properties: { linear_mps: number('m/s'), angular_radps: number('rad/s') },
      },
      charge: { type: 'number', 'x-kind': 'battery', title: 'Charge' },
      arm: { type: 'array', 'x-kind': 'joints', items: number('rad'), maxItems: 6, title: 'Arm joint' },
      pedestrians: { type: 'array', 'x-kind': 'obstacles', items: sighting, maxItems: 9 },
      lidar: { type: 'object', 'x-kind': 'scan', properties: { ...angles, ranges_m } },
      motor: { ...number('°C'), title: 'Motor' },
    },
  }
  await using fixture = await openCockpit(world, browser, { settings: { telemetry_schema } })
  await replaceRobot(fixture, {
    base: { x_m: 3, y_m: 4.25, heading_rad: Math.PI / 2 },
    motion: { linear_mps: 0.5, angular_radps: -0.25 },
    charge: 0.42,
    arm: [0.5, -1],
    pedestrians: [
      { distance_m: 2, bearing_rad: 0 },
      { distance_m: 1.5, bearing_rad: -Math.PI / 4 },
    ],
    lidar: { angle_min_rad: -Math.PI / 2, angle_increment_rad: Math.PI / 2, ranges_m: [3, 0, 0.8] },
    motor: 41.5,
    extra: { temperature_c: 20 },
  })
  const telemetry = await showValues(fixture.page)
  await telemetry.getByRole('img', { name: /the robot is at 3.0 m, 4.3 m, heading 90 degrees/ }).waitFor()
  const values = () => telemetry.locator('dl > div').allInnerTexts()
  const expected = [
    ['Base', '3.0 m, 4.3 m, heading 90°'],
    ['Motion', '0.50 m/s, -0.25 rad/s'],
    ['Charge', '42 %'],
    ['Arm joint 1', '0.50 rad'],
    ['Arm joint 2', '-1 rad'],
    ['Pedestrians', '1.50 m, 45° right'],
    ['Lidar', '2 returns, nearest 0.80 m, 90° left'],
    ['Motor', '41.50 °C'],
    ['Extra, temperature', '20 °C'],
  ]
  await waitFor(async () =>
    expect((await values()).map((row) => row.split(/\s*\n\s*/)).sort()).toEqual(expected.sort()),
  )
  const proximity = telemetry.getByRole('img', { name: /Obstacles around the robot/ })
  await proximity.waitFor()
  const drawn = await proximity.evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement
    const { data } = (canvas as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height)
    return data.some((value) => value > 0)
  })
  expect(drawn).toBe(true)
  expect(await seriousIssues(fixture.page)).toEqual([])
})

test('the cockpit predicts where the robot will be after the delay of its commands', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const telemetry = await showValues(fixture.page)
  const predictedM = async () => Number.parseFloat(await telemetry.getByText(/m away, /).innerText())
  await page.keyboard.down('ArrowUp')
  await telemetry.getByText(/m away, not turned/).waitFor()
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()
  await telemetry.getByText(/m away, /).waitFor({ state: 'detached' })

  // A robot without a pose, whose acknowledgements take 300 ms. Driving to the left turns the ghost.
  const acks = new Set<NodeJS.Timeout>()
  onTestFinished(() => acks.forEach(clearTimeout))
  const link: RobotLink = await replaceRobot(
    fixture,
    { battery: 0.5 },
    {
      onControl: ({ seq }) => acks.add(setTimeout(() => link.ack(seq), 300)),
      onStop: ({ reason }) => link.stopped(reason),
    },
  )
  await telemetry.getByRole('img', { name: /Map/ }).waitFor({ state: 'hidden' })
  await page.keyboard.down('ArrowUp')
  await page.keyboard.down('ArrowLeft')
  // Half of 1 m/s for at least 300 ms, as soon as the median of the round trips is that of this robot.
  await waitFor(async () => expect(await predictedM()).toBeGreaterThan(0.1))
  await telemetry.getByText(/m away, turned \d+° left/).waitFor()
  await telemetry.getByRole('img', { name: /Obstacles around the robot/ }).waitFor()
  await page.keyboard.up('ArrowLeft')
  await page.keyboard.up('ArrowUp')
  await telemetry.getByText(/m away, /).waitFor({ state: 'detached' })
})
