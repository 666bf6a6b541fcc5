import { randomInt, randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { Page } from 'playwright-core'
import { SimulatedRobot } from '../../../packages/sdk/index.ts'
import type { Lab } from '../lab.ts'
import { users } from '../rest/fixtures.ts'
import { startWheelhouse } from '../targets.ts'
import { type Answer, keyFor, requesterOf, signIn } from './browser-user.ts'

/** Below the ports that operating systems give to outgoing connections: one of those could take the port during a restart. */
const FIRST = 20_000
const COUNT = 10_000
const ATTEMPTS = 20

/** Returns a free port that no outgoing connection takes while nothing listens to it. */
async function stablePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + randomInt(COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port from ${FIRST} to ${FIRST + COUNT - 1}.`)
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })

const TIMEOUT_MS = 30_000

/** Where a camera of the robot is published by WHIP. */
interface WhipTarget {
  readonly origin: string
  readonly url: string
  readonly token: string
}

interface Parts {
  readonly streamUrl: string
  readonly telemetryHz: number
  /** Publishes a camera of the robot; without it, the platform has no media role. */
  readonly publish?: (target: WhipTarget) => Promise<void>
}

export type Environment = Awaited<ReturnType<typeof setUpEnvironment>>

/**
 * Starts Wheelhouse as `npm start` does, with one robot, its owner, and an operator in a browser.
 * @throws Error when a part of it does not start; no process is left running then
 */
export async function setUpEnvironment(lab: Lab, page: Page, parts: Parts) {
  page.setDefaultTimeout(TIMEOUT_MS)
  const env = {
    PORT: String(await stablePort()),
    GATEWAY_PORT: String(await stablePort()),
    ...(parts.publish && { ROLES: 'api,hub,gateway,worker,media', MEDIA_UDP_PORT: '0' }),
  }
  let wheelhouse = await startWheelhouse(lab, 'single', { env })
  const opened: { robot?: SimulatedRobot } = {}
  const close = async () => {
    await page.context().close()
    await opened.robot?.close()
    await wheelhouse.stop()
  }
  try {
    const ask = requesterOf(wheelhouse.apiUrl)
    const [owner] = await users(lab.db, 1, 'client')
    if (!owner) throw new Error('The owner does not exist.')
    const registered = await ask(owner.apiKey, 'POST', '/api/client/robots', {
      name: 'Bench robot',
      robot_type: 'bench',
      hardware_id: randomUUID(),
      stream_url: parts.streamUrl,
    })
    opened.robot = simulatedRobot(wheelhouse.destination.port, registered, parts.telemetryHz)
    await opened.robot.start()
    await parts.publish?.({
      origin: wheelhouse.apiUrl,
      url: `${wheelhouse.apiUrl}/api/robots/${registered.id}/whip/front`,
      token: String(registered.robot_token),
    })

    const email = `${randomUUID()}@bench.local`
    await signIn(page, wheelhouse.apiUrl, email)
    const key = await keyFor(lab, email)
    await ask(key, 'POST', '/api/auth/profile', { role: 'operator' })
    await ask(key, 'POST', '/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
    const { sessionId } = await ask(key, 'POST', '/api/sessions', { robotId: registered.id })
    await page.goto(`${wheelhouse.apiUrl}/dashboard/drive/${sessionId}`)
    await page.locator('[data-testid=freshness][data-state=LIVE]').waitFor()
    return {
      apiUrl: wheelhouse.apiUrl,
      robot: opened.robot,
      /** The process of Wheelhouse. */
      pid: () => wheelhouse.child.process.pid ?? 0,
      /** Sends a chat message as the owner, so that the page does more than drive. */
      sendChat: (body: string) => ask(owner.apiKey, 'POST', `/api/sessions/${sessionId}/messages`, { body }),
      /** Ends Wheelhouse, as a deployment does; browser and robot stay. */
      stop: () => wheelhouse.stop(),
      /** Starts Wheelhouse again, under the same addresses. */
      async start() {
        wheelhouse = await startWheelhouse(lab, 'single', { env })
      },
      /** Pauses the process of Wheelhouse: connections stay open, and nothing is answered. */
      pause: () => void wheelhouse.child.process.kill('SIGSTOP'),
      resume: () => void wheelhouse.child.process.kill('SIGCONT'),
      close,
    }
  } catch (cause) {
    await close()
    throw cause
  }
}

/** Simulates a robot in a room that is wide enough to drive for a while. */
const simulatedRobot = (port: number, { id, robot_token }: Answer, telemetryHz: number) =>
  new SimulatedRobot({
    url: `ws://127.0.0.1:${port}/robots/${id}/control`,
    token: String(robot_token),
    world: { widthM: 1_000, heightM: 1_000, obstacles: [] },
    start: { xM: 500, yM: 500 },
    telemetryHz,
  })
