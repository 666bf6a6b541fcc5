import { isHalted, SimulatedRobot, type WebSocketConstructor } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import { type ConsoleBrowser, closeContext, type PageOptions } from './console.ts'

export interface CockpitOptions {
  readonly robot?: Record<string, unknown>
  /** Settings that a registration does not have. */
  readonly settings?: Record<string, unknown>
  readonly page?: PageOptions
  /** The WebSocket of the robot. */
  readonly WebSocket?: WebSocketConstructor
  /** Where the robot starts, in its room of 100 by 100 metres. */
  readonly start?: { readonly xM: number; readonly yM: number }
}

/** Counts the commands that the page sends, separately for moving and zero commands, and collects why the gateway dropped some. */
const COUNT_COMMANDS = `
  window.commands = { moving: 0, zero: 0 }
  window.dropReasons = []
  const watched = new WeakSet()
  const onMessage = ({ data }) => {
    const { type, why } = typeof data === 'string' && data.startsWith('{') ? JSON.parse(data) : {}
    if (type === 'dropped') window.dropReasons.push(why)
  }
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (frame) {
    const { type, data } = typeof frame === 'string' && frame.startsWith('{') ? JSON.parse(frame) : {}
    if (type === 'control') window.lastCommand = data
    if (type === 'control') window.commands[data.linear_mps || data.angular_radps ? 'moving' : 'zero']++
    if (!watched.has(this)) this.addEventListener('message', onMessage)
    watched.add(this)
    return send.call(this, frame)
  }`

/** Opens the cockpit of an active session with a simulated robot. */
export async function openCockpit(world: World, browser: ConsoleBrowser, options: CockpitOptions = {}) {
  const [owner, operator] = [await world.client(), await world.operator()]
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  const { id, token } = await world.robot(owner, options.robot)
  if (options.settings) {
    const changed = await owner.patch(`/api/client/robots/${id}`, options.settings)
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  }
  const robot = await connectRobot(world, { id, token }, options)
  const sessionId = await waitFor(async () => {
    const started = await operator.post('/api/sessions', { robotId: id })
    expect(started.status, JSON.stringify(started.body)).toBe(201)
    return started.body.sessionId as string
  })
  const path = `/dashboard/drive/${sessionId}`
  const { page, context } = await browser.enter(operator, path, options.page)
  await page.getByText('Connected', { exact: true }).waitFor()
  // Before the gateway reports ACTIVE, the cockpit ignores keys.
  await inStatus(page, /^(You drive|Commands held)$/)
  await page.evaluate(COUNT_COMMANDS)
  const read = async () => (await operator.get(`/api/sessions/${sessionId}`)).body
  return {
    owner,
    operator,
    robot,
    robotId: id,
    robotToken: token,
    sessionId,
    path,
    page,
    context,
    read,
    /** Returns the number of sent commands. An accepted input sends one within its own event. */
    commands: () => page.evaluate('window.commands') as Promise<{ moving: number; zero: number }>,
    expectHalted: () => waitFor(() => expect(isHalted(robot.state)).toBe(true)),
    expectMoving: () => waitFor(() => expect(isHalted(robot.state)).toBe(false)),
    async [Symbol.asyncDispose]() {
      await closeContext(context)
      await robot.close()
    },
  }
}
export type CockpitFixture = Awaited<ReturnType<typeof openCockpit>>

/** Waits until the gateway reports ACTIVE and nothing holds the commands. */
export const waitUntilDriving = (page: Page): Promise<void> => inStatus(page, /^(You drive|.* drives)$/)

const inStatus = (page: Page, text: RegExp): Promise<void> =>
  page.getByRole('region', { name: 'Status' }).getByText(text).waitFor()

/** Performs a command of the menu. @param id its test id */
export async function runCommand(page: Page, id: string): Promise<void> {
  await page.getByTestId('menu').click()
  await page.getByRole('dialog').getByTestId(id).click()
}

/** Holds the button that clears a stop until the stop is cleared. In the cockpit of the operator, the session then goes on. */
export async function holdToClear(page: Page): Promise<void> {
  const button = page.getByTestId('clear-stop')
  await button.hover()
  await page.mouse.down()
  await button.waitFor({ state: 'detached' })
  await page.mouse.up()
}

/** Opens the details of the connection, which are part of the region "Status". */
export const openDetails = (page: Page): Promise<void> => page.getByTestId('latency').click()

/** Shows all values of the telemetry in the dock. */
export async function showValues(page: Page) {
  await page.keyboard.press('i')
  return page.getByTestId('dock').getByRole('region', { name: 'Telemetry' })
}

/** Leaves the cockpit for the page of the session, and confirms it if the robot can be driven. */
export async function leaveCockpit(page: Page, { asks = true } = {}): Promise<void> {
  await page.getByRole('link', { name: 'Leave cockpit' }).click()
  if (asks) await page.getByRole('dialog').getByRole('button', { name: 'Leave cockpit' }).click()
  await page.getByRole('heading', { name: /^Session on/ }).waitFor()
}

/** Connects a simulated robot in a large empty room. */
export async function connectRobot(
  world: World,
  { id, token }: { id: string; token: string },
  { WebSocket, start = { xM: 50, yM: 50 } }: Pick<CockpitOptions, 'WebSocket' | 'start'> = {},
) {
  const robot = new SimulatedRobot({
    url: `${world.gatewayUrl}/robots/${id}/control`,
    token,
    world: { widthM: 100, heightM: 100, obstacles: [] },
    start,
    telemetryHz: 10,
    ...(WebSocket && { WebSocket }),
  })
  await robot.start()
  return robot
}

/**
 * Ignores expected errors: on a busy machine the database may exceed the hub's timeout, and the hub sends the stop directly. The
 * error may come after the test that requested the stop.
 */
export const forgiveSlowStops = (world: World | undefined): void =>
  world?.tolerateErrors('The stop was sent to the gateway of the robot')

/** Environment of a world whose pages are reloaded: on a busy machine a reload takes longer than a lost operator is waited for. */
export const SLOW_RELOADS = { OPERATOR_GRACE_MS: '600000' }
