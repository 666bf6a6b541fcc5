import { isHalted, SimulatedRobot } from '@wheelhouse/sdk'
import { expect, vi } from 'vitest'
import type { World } from '../world/world.ts'
import type { ConsoleBrowser, PageOptions } from './console.ts'

export interface CockpitOptions {
  readonly robot?: Record<string, unknown>
  readonly page?: PageOptions
}

/** Counts the commands that the page sends, moving ones apart. */
const COUNT_COMMANDS = `
  window.commands = { moving: 0, zero: 0 }
  const send = WebSocket.prototype.send
  WebSocket.prototype.send = function (frame) {
    const { type, data } = typeof frame === 'string' && frame.startsWith('{') ? JSON.parse(frame) : {}
    if (type === 'control') window.commands[data.linear_mps || data.angular_radps ? 'moving' : 'zero']++
    return send.call(this, frame)
  }`

/** An operator in the cockpit of an active session with a simulated robot. */
export async function openCockpit(world: World, browser: ConsoleBrowser, options: CockpitOptions = {}) {
  const [owner, operator] = [await world.client(), await world.operator()]
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  const { id, token } = await world.robot(owner, options.robot)
  const robot = await connectRobot(world, { id, token })
  const sessionId = await vi.waitFor(async () => {
    const started = await operator.post('/api/sessions', { robotId: id })
    expect(started.status, JSON.stringify(started.body)).toBe(201)
    return started.body.sessionId as string
  }, 5_000)
  const path = `/dashboard/drive/${sessionId}`
  const { page, context } = await browser.enter(operator, path, options.page)
  await page.getByText('Linked', { exact: true }).waitFor()
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
    /** How many commands the page has sent. An input that counts has sent one by the time its event is over. */
    commands: () => page.evaluate('window.commands') as Promise<{ moving: number; zero: number }>,
    expectHalted: () => vi.waitFor(() => expect(isHalted(robot.state)).toBe(true), 5_000),
    moving: () => vi.waitFor(() => expect(isHalted(robot.state)).toBe(false), 5_000),
    async [Symbol.asyncDispose]() {
      await context.close()
      await robot.close()
    },
  }
}
export type CockpitFixture = Awaited<ReturnType<typeof openCockpit>>

/** The robot itself, in a room that is wide enough to drive for a while. */
export async function connectRobot(world: World, { id, token }: { id: string; token: string }) {
  const robot = new SimulatedRobot({
    url: `${world.gatewayUrl}/robots/${id}/control`,
    token,
    world: { widthM: 100, heightM: 100, obstacles: [] },
    start: { xM: 50, yM: 50 },
    telemetryHz: 30,
  })
  await robot.start()
  return robot
}

/** A stop that the database takes longer for than the hub waits, on a busy machine, goes straight to the robot too. */
export function forgiveSlowStops(world: World | undefined): void {
  const slow = world?.errors.filter((line) => line.includes('The stop was sent to the robot'))
  for (const line of slow ?? []) world?.errors.splice(world.errors.indexOf(line), 1)
}
