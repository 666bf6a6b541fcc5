import { fileURLToPath } from 'node:url'
import type { DriveState, DropReason } from '@wheelhouse/protocol'
import { ObserverLink, OperatorLink, SimulatedRobot, ticketsOf } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, test } from 'vitest'
import { serveFolder, sharedChromium } from '../../support/browser/chromium.ts'
import { exampleRobots } from '../../support/examples/example-robots.ts'
import type { Sample } from '../../support/examples/scripted-robot-gateway.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Runs the example robots and operator pages against a real platform.

const forward = { linear_mps: 0.5, angular_radps: 0 }
const quick = { baseMs: 20, maxMs: 100 }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const eventually = <T>(check: () => T | Promise<T>) => waitFor(check)

async function openWorld(origin?: string): Promise<World> {
  const world = await createWorld({ env: { DEADMAN_MS: '250', ...(origin && { CORS_ORIGINS: origin }) } })
  cleanups.push(() => world[Symbol.asyncDispose]())
  return world
}

/** Creates an owner, an operator and a registered robot that is offline. */
async function actors(world: World) {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  await tolerateLatency(world, robot.id)
  const access = { url: `${world.gatewayUrl}/robots/${robot.id}/control`, token: robot.token }
  return { world, owner, operator, robotId: robot.id, access }
}

/** Starts a session once the robot is online. */
async function begin({ owner, operator, robotId }: Awaited<ReturnType<typeof actors>>): Promise<string> {
  await eventually(async () =>
    expect((await owner.get('/api/client/robots')).body[0].status).toBe('AVAILABLE'),
  )
  return start(operator, robotId)
}

const ticketOf = (world: World, user: TestUser, sessionId: string, part: 'control' | 'watch') =>
  ticketsOf({ baseUrl: world.baseUrl, token: user.token, sessionId, part })

async function simulatedRobot(access: { url: string; token: string }): Promise<SimulatedRobot> {
  // A large area, because the distance depends on the load of the machine.
  const world = { widthM: 10_000, heightM: 10_000, obstacles: [] }
  const robot = new SimulatedRobot({ ...access, reconnect: quick, world, start: { xM: 5_000, yM: 5_000 } })
  cleanups.push(() => robot.close())
  await robot.start()
  return robot
}

/** Connects an operator that uses the SDK. It drives while `controls.data` is set and records received frames. */
async function sdkOperator(world: World, user: TestUser, sessionId: string) {
  const received = {
    state: null as DriveState | null,
    sample: null as Sample | null,
    acks: 0,
    dropped: [] as DropReason[],
  }
  const link = new OperatorLink({
    getTicket: ticketOf(world, user, sessionId, 'control'),
    onState: (state) => {
      received.state = state
    },
    onTelemetry: (data) => {
      received.sample = data as Sample
    },
    onAck: () => {
      received.acks++
    },
    onDropped: (_seq, why) => received.dropped.push(why),
  })
  const controls = { data: null as object | null }
  const timer = setInterval(() => controls.data && link.control(controls.data), 40)
  const close = () => {
    clearInterval(timer)
    return link.close()
  }
  cleanups.push(close)
  await link.connect()
  return { received, controls, close }
}

const expectMoving = (sample: Sample | null) => expect(sample?.velocity.linear_mps).toBeGreaterThan(0.3)
const expectHalted = (sample: Sample | null) => expect(sample?.standing).toBe(true)

describe.each(Object.entries(exampleRobots))('%s', (_name, startRobot) => {
  test('is driven, released, stopped, cleared and driven again by an operator that uses the SDK', async () => {
    const ready = Promise.withResolvers<Awaited<ReturnType<typeof actors>>>()
    const robot = await startRobot(async (origin) => {
      ready.resolve(await actors(await openWorld(origin)))
      return (await ready.promise).access
    })
    cleanups.push(() => robot[Symbol.asyncDispose]())
    const fixture = await ready.promise
    const { world, owner, operator } = fixture
    const id = await begin(fixture)
    const { received, controls, close } = await sdkOperator(world, operator, id)

    controls.data = forward
    await eventually(() => expectMoving(received.sample))
    await eventually(() => expect(received.sample?.pose.x_m).toBeGreaterThan(0.1))
    expect(received.acks).toBeGreaterThan(0)
    controls.data = null
    await eventually(() => expect(received.state?.stop).toMatchObject({ reason: 'deadman', latched: false }))
    await eventually(() => expectHalted(received.sample))

    controls.data = forward
    await eventually(() => expectMoving(received.sample))
    const observed = { sample: null as Sample | null, state: null as DriveState | null }
    const observer = new ObserverLink({
      getTicket: ticketOf(world, owner, id, 'watch'),
      onTelemetry: (data) => {
        observed.sample = data as Sample
      },
      onState: (state) => {
        observed.state = state
      },
    })
    cleanups.push(() => observer.close())
    await observer.connect()
    await observer.stop('smoke')
    await eventually(() => expectHalted(received.sample))
    await eventually(() =>
      expect(received.state?.stop).toMatchObject({ reason: 'smoke', latched: true, recorded: true }),
    )
    await eventually(() => expect(received.dropped).toContain('stopped'))

    await performAction(owner, id, 'clear_stop')
    await eventually(() => expect(received.state?.stop).toMatchObject({ latched: false }))
    expectHalted(received.sample)
    await performAction(operator, id, 'resume')
    await eventually(() => expectMoving(received.sample))

    await close()
    // The deadman timer may fire before the connection closes.
    await eventually(() => expect(observed.state?.stop?.reason).toMatch(/operator_lost|deadman/))
    await eventually(() => expectHalted(observed.sample))
    await performAction(operator, id, 'end')
    await eventually(() => expect(observer.connection).toBe('closed'))
  })
})

describe('examples/browser/drive.html', () => {
  async function openPage() {
    const pages = await serveFolder(fileURLToPath(new URL('../../../examples/browser', import.meta.url)))
    cleanups.push(() => pages[Symbol.asyncDispose]())
    const fixture = await actors(await openWorld(pages.origin))
    const robot = await simulatedRobot(fixture.access)
    const id = await begin(fixture)
    const context = await (await sharedChromium()).newContext()
    cleanups.push(() => context.close())
    const problems: string[] = []
    const open = async (): Promise<Page> => {
      const page = await context.newPage()
      page.on('pageerror', (error: Error) => problems.push(error.message))
      await page.goto(`${pages.origin}/drive.html`)
      return page
    }
    cleanups.push(() => expect(problems).toEqual([]))
    return { ...fixture, id, robot, open }
  }

  const shows = (page: Page, selector: string, text: string | RegExp) =>
    eventually(async () => expect(await page.textContent(selector)).toMatch(text))

  async function connect(page: Page, world: World, id: string, credential: string, part: string) {
    await page.fill('#api', world.baseUrl)
    await page.fill('#session', id)
    await page.fill('#credential', credential)
    await page.check(`[name=part][value=${part}]`)
    await page.click('#connect button[type=submit]')
    await shows(page, '#connection', 'connected')
    await shows(page, '#status', 'ACTIVE')
  }

  test('drives with the keyboard, stops, clears and resumes', async () => {
    const { world, operator, id, robot, open } = await openPage()
    const page = await open()
    await connect(page, world, id, (await operator.key()).key, 'control')
    await shows(page, '#robot', 'connected')
    await page.keyboard.down('ArrowUp')
    await eventually(() => expect(robot.state.leftMps).toBeGreaterThan(0.3))
    await shows(page, '#pose', /^x [\d.]+ m/)
    await shows(page, '#commands', /obeyed [1-9]/)
    await shows(page, '#latency', /you \d+ ms, robot \d+ ms, own ping \d+ ms/)
    await page.keyboard.down('KeyA') // to the left: the right wheel is the faster
    await eventually(() => expect(robot.state.rightMps - robot.state.leftMps).toBeGreaterThan(0.1))
    await page.keyboard.up('KeyA')
    await page.keyboard.up('ArrowUp')
    await eventually(() => expect([robot.state.leftMps, robot.state.rightMps]).toEqual([0, 0]))
    await shows(page, '#in-force', 'none') // zero commands count as commands

    await page.keyboard.down('ArrowUp')
    await eventually(() => expect(robot.state.leftMps).toBeGreaterThan(0.3))
    await page.click('#stop')
    await shows(page, '#in-force', 'stopped from the page (latched, until it is cleared)')
    await eventually(() => expect(robot.state.leftMps).toBe(0))
    await page.keyboard.up('ArrowUp')
    await page.click('#clear')
    await shows(page, '#in-force', 'session_paused')
    await page.click('#resume')
    await shows(page, '#in-force', 'none')
    await page.keyboard.down('ArrowUp')
    await eventually(() => expect(robot.state.leftMps).toBeGreaterThan(0.3))
    await page.evaluate(() => window.dispatchEvent(new Event('blur')))
    await shows(page, '#in-force', 'deadman')
    await eventually(() => expect(robot.state.leftMps).toBe(0))
  })

  test('observes and stops the robot, and shows user text without HTML', async () => {
    const { world, owner, operator, id, robot, open } = await openPage()
    const { received, controls } = await sdkOperator(world, operator, id)
    controls.data = forward
    await eventually(() => expect(robot.state.leftMps).toBeGreaterThan(0.3))
    const page = await open()
    await connect(page, world, id, owner.token, 'watch')
    await shows(page, '#pose', /^x [\d.]+ m/)
    await page.focus('#connect button')
    await page.keyboard.press('Escape')
    await eventually(() =>
      expect(received.state?.stop).toMatchObject({ reason: 'stopped from the page', recorded: true }),
    )
    await eventually(() => expect(robot.state.leftMps).toBe(0))
    await performAction(owner, id, 'clear_stop')
    await shows(page, '#in-force', 'session_paused')
    const reason = '<img src=x onerror="document.title=1"><b>smoke</b>'
    await performAction(operator, id, 'emergency_stop', reason)
    await shows(page, '#in-force', '<img src=x')
    expect(await page.locator('dl img, dl b').count()).toBe(0)
  })

  test('stops over the API when it has no connection', async () => {
    const { world, owner, id, open } = await openPage()
    const page = await open()
    await page.fill('#api', world.baseUrl)
    await page.fill('#session', id)
    await page.fill('#credential', owner.token)
    await page.click('#stop')
    await eventually(async () =>
      expect((await owner.get(`/api/sessions/${id}`)).body.control.stop).toMatchObject({
        reason: 'stopped from the page',
      }),
    )
  })

  test('connects once with a pasted ticket', async () => {
    const { operator, id, open } = await openPage()
    const { body } = await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })
    const page = await open()
    await page.fill('#url', body.url)
    await page.fill('#ticket', body.ticket)
    await page.click('#connect button[type=submit]')
    await shows(page, '#status', 'ACTIVE')
    // A second use is rejected and does not disconnect the first page.
    const second = await open()
    await second.fill('#url', body.url)
    await second.fill('#ticket', body.ticket)
    await second.click('#connect button[type=submit]')
    await shows(second, '#connection', 'ended: enter a new ticket')
    await shows(page, '#connection', 'connected')
  })
})
