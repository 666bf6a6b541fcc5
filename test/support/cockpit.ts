import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isStanding, SimulatedRobot } from '@wheelhouse/sdk'
import sharp from 'sharp'
import { expect, vi } from 'vitest'
import type { ConsoleBrowser } from './console.ts'
import type { World } from './world.ts'

export interface CockpitOptions {
  readonly robot?: Record<string, unknown>
  /** Of the browser's context: width, colours. */
  readonly page?: Parameters<ConsoleBrowser['signIn']>[2]
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
  const email = `${operator.name}@test.local`
  const { page, context } = await browser.signIn(email, path, options.page)
  await page.getByText('Linked', { exact: true }).waitFor()
  await page.evaluate(COUNT_COMMANDS)
  const read = async () => (await operator.get(`/api/sessions/${sessionId}`)).body
  return {
    ...{ owner, operator, robot, robotId: id, robotToken: token, sessionId, path, page, context, read },
    /** How many commands the page has sent. An input that counts has sent one by the time its event is over. */
    commands: () => page.evaluate('window.commands') as Promise<{ moving: number; zero: number }>,
    standing: () => vi.waitFor(() => expect(isStanding(robot.state)).toBe(true), 5_000),
    moving: () => vi.waitFor(() => expect(isStanding(robot.state)).toBe(false), 5_000),
    async [Symbol.asyncDispose]() {
      await context.close()
      await robot.close()
    },
  }
}
export type CockpitStage = Awaited<ReturnType<typeof openCockpit>>

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

/** A camera at an origin of its own: a moving picture, with or without the leave of other origins to read it. */
export async function createTestCamera({ readable = true } = {}) {
  const jpeg = await sharp({ create: { width: 64, height: 36, channels: 3, background: 'teal' } })
    .jpeg()
    .toBuffer()
  let viewers = 0
  let frozen = false
  const server = createServer((request, response) => {
    if (request.url !== '/camera') return void response.writeHead(404).end()
    viewers++
    response.writeHead(200, {
      'Content-Type': 'multipart/x-mixed-replace; boundary=frame',
      ...(readable && { 'Access-Control-Allow-Origin': '*' }),
    })
    const head = `\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`
    response.write('--frame')
    const timer = setInterval(() => {
      if (!frozen) response.write(Buffer.concat([Buffer.from(head), jpeg, Buffer.from('\r\n--frame')]))
    }, 50)
    response.on('close', () => {
      viewers--
      clearInterval(timer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/camera`,
    viewers: () => viewers,
    freeze: (now: boolean) => {
      frozen = now
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
