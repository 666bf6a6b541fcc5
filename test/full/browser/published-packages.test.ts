import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OperatorLink, SimulatedRobot, ticketsOf } from '../../../packages/sdk/index.ts'
import { serveFolder, sharedChromium } from '../../support/browser/chromium.ts'
import { type Installation, installPackages } from '../../support/packages/packages.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Runs programs in an empty folder with the published packages against a real platform.

const run = promisify(execFile)
const { resolve } = createRequire(import.meta.url)
const eventually = <T>(check: () => T | Promise<T>) => waitFor(check)

let installed: Installation
let world: World
let pages: Awaited<ReturnType<typeof serveFolder>>
beforeAll(async () => {
  installed = await installPackages(['@types/node@22.20.5'])
  pages = await serveFolder(join(installed.folder, 'page/dist'))
  // Robots on a busy machine send late heartbeats.
  world = await createWorld({ env: { CORS_ORIGINS: pages.origin, HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await pages?.[Symbol.asyncDispose]()
  await installed?.[Symbol.asyncDispose]()
})

const sessionOf = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body

/** Drives forward until the scope of the test ends. */
async function drive(user: TestUser, sessionId: string) {
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: world.baseUrl, token: user.token, sessionId, part: 'control' }),
  })
  await link.connect()
  const timer = setInterval(() => link.control({ linear_mps: 0.8, angular_radps: 0 }), 40)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await link.close()
    },
  }
}

describe('the programs of the README', () => {
  const names = ['robot.ts', 'operator.ts', 'observer.ts', 'hub.ts', 'rest.ts']
  beforeAll(async () => {
    const readme = await readFile(join(installed.of('@wheelhouse/sdk'), 'README.md'), 'utf8')
    const programs = [...readme.matchAll(/```ts\n\/\/ (\w+\.ts)\n([\s\S]*?)```/g)]
    expect(programs.map(([, name]) => name)).toEqual(names)
    for (const [, name, text] of programs) await installed.write(name as string, text as string)
  })

  test('type-check', async () => {
    const options = { module: 'nodenext', target: 'es2024', types: ['node'], strict: true, noEmit: true }
    await installed.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: names }))
    const compiler = join(dirname(resolve('typescript/package.json')), 'bin/tsc')
    const { stdout } = await run(process.execPath, [compiler, '--project', installed.folder]).catch((e) => e)
    expect(stdout).toBe('')
  })

  test('work together', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const as = async (user: TestUser, more: Record<string, string> = {}) => ({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_HUB_URL: world.hubUrl,
      WHEELHOUSE_API_KEY: (await user.key()).key,
      ...more,
    })
    const robots = async () => (await owner.get('/api/client/robots')).body

    const registered = await installed.run('node', ['rest.ts'], await as(owner))
    const [robot] = await robots()
    expect(robot).toMatchObject({ hardware_id: 'board-0001', status: 'OFFLINE' })
    expect(registered.stdout).toContain(`${robot.id} First robot OFFLINE`)

    const access = Object.fromEntries(
      [...registered.stdout.matchAll(/^(ROBOT_\w+)=(.*)$/gm)].map((m) => m.slice(1)),
    )
    await using machine = installed.start('robot.ts', access)
    await eventually(async () =>
      expect((await robots())[0], machine.output()).toMatchObject({ status: 'AVAILABLE' }),
    )

    const driving = installed.run('node', ['operator.ts'], await as(operator, { ROBOT_ID: robot.id }))
    const first = await eventually(async () => {
      const { sessions } = (await owner.get('/api/sessions?status=ACTIVE')).body
      expect(sessions).toHaveLength(1)
      return sessions[0].id as string
    })
    const observer = await world.drive(owner, first, 'watch')
    await eventually(async () =>
      expect((await observer.next('telemetry')).data.pose.x_m).toBeGreaterThan(0.3),
    )
    await driving
    expect((await sessionOf(owner, first)).status).toBe('COMPLETED')

    const second = await start(operator, robot.id)
    await using chat = installed.start('hub.ts', await as(owner, { SESSION_ID: second }))
    await using observerLink = installed.start('observer.ts', await as(owner, { SESSION_ID: second }))
    await eventually(() => expect(observerLink.output()).toContain('ACTIVE online'))
    await using _stick = await drive(operator, second)
    expect(await observerLink.ended, observerLink.output()).toBe(0)
    expect(observerLink.output()).toContain('stopped')
    const log = async () => (await owner.get(`/api/sessions/${second}/events`)).body.events
    expect(await sessionOf(owner, second)).toMatchObject({ status: 'PAUSED' })
    expect(await log()).toContainEqual(
      expect.objectContaining({
        type: 'session.stopped',
        data: expect.objectContaining({ reason: 'further than a metre' }),
      }),
    )

    await eventually(async () =>
      expect(await log()).toContainEqual(
        expect.objectContaining({ type: 'chat.message', data: expect.objectContaining({ body: 'Hello' }) }),
      ),
    )
    await operator.post(`/api/sessions/${second}/messages`, { body: 'Good day' })
    await eventually(() => expect(chat.output()).toMatch(/^\d+ chat\.message Good day$/m))
    expect(chat.output()).toMatch(/^notification \d+ session\.started$/m)

    const again = await installed.run('node', ['rest.ts'], await as(owner))
    expect(await robots()).toHaveLength(1)
    expect(again.stdout).toContain(`${first} COMPLETED`)
    expect(again.stdout).toContain(`${second} PAUSED`)

    for (const program of [machine, chat]) program.signal('SIGINT')
    expect([await machine.ended, await chat.ended], machine.output() + chat.output()).toEqual([0, 0])
    await observer.close()
  })
})

describe('a page for browsers, bundled by Vite', () => {
  const page = `
import { HubClient, RobotLink, ticketsOf, ObserverLink } from '@wheelhouse/sdk'

const { baseUrl, hubUrl, token, sessionId, robotUrl } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const show = (place, text) => { document.getElementById(place).textContent = text }

const link = new ObserverLink({
  getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'watch' }),
  onState: ({ status }) => show('status', status),
  onTelemetry: ({ pose }) => show('pose', pose.x_m),
})
document.getElementById('stop').onclick = () => link.stop('from the page')
const hub = new HubClient({ url: hubUrl, token })
hub.watch(sessionId, { onEvent: ({ type }) => show('entry', type) })
try { new RobotLink({ url: robotUrl, token }) } catch (cause) { show('robot', cause.message) }
await Promise.all([link.connect(), hub.connect()])
`
  const html = `<!doctype html><title>page</title><p id=status></p><p id=pose></p><p id=entry></p><p id=robot></p>
<button id=stop>Stop</button><script type=module src=page.js></script>`

  test('bundles without ws, observes a session, follows its log and stops the robot', async () => {
    const folder = join(installed.folder, 'page')
    await mkdir(folder)
    await writeFile(join(folder, 'index.html'), html)
    await writeFile(join(folder, 'page.js'), page)
    const vite = join(dirname(resolve('vite/package.json')), 'bin/vite.js')
    const args = [vite, 'build', folder, '--assetsDir', '.', '--target', 'esnext', '--logLevel', 'warn']
    expect(await run(process.execPath, args, { cwd: folder, env: installed.env })).toEqual({
      stdout: '',
      stderr: '',
    })
    const scripts = (await readdir(join(folder, 'dist'))).filter((name) => name.endsWith('.js'))
    expect(scripts).toHaveLength(1)
    const bundle = await readFile(join(folder, 'dist', scripts[0]!), 'utf8')
    expect(bundle.includes('bearer.')).toBe(true)
    expect(/Sec-WebSocket-Key|ws does not work in the browser/.exec(bundle)).toBeNull()

    const [owner, operator] = [await world.client(), await world.operator()]
    const { id, token: robotToken } = await world.robot(owner)
    const robotUrl = `${world.gatewayUrl}/robots/${id}/control`
    const robot = new SimulatedRobot({ url: robotUrl, token: robotToken })
    await using _robot = { [Symbol.asyncDispose]: () => robot.close() }
    await robot.start()
    await eventually(async () =>
      expect((await owner.get('/api/client/robots')).body[0]).toMatchObject({ status: 'AVAILABLE' }),
    )
    const sessionId = await start(operator, id)

    const view = await (await sharedChromium()).newPage()
    await using _view = { [Symbol.asyncDispose]: () => view.close() }
    const problems: unknown[] = []
    view.on('pageerror', (problem) => problems.push(problem))
    const { baseUrl, hubUrl } = world
    const serializedOptions = JSON.stringify({
      baseUrl,
      hubUrl,
      token: (await owner.key()).key,
      sessionId,
      robotUrl,
    })
    await view.goto(`${pages.origin}/index.html#${encodeURIComponent(serializedOptions)}`)
    const shows = (selector: string, text: string | RegExp) =>
      eventually(async () => expect(await view.textContent(selector)).toMatch(text))

    await shows('#status', 'ACTIVE')
    await shows('#pose', /^1$/)
    await shows('#entry', 'session.started')
    await shows('#robot', 'headers')
    await view.click('#stop')
    await shows('#entry', 'session.stopped')
    expect(await sessionOf(owner, sessionId)).toMatchObject({ status: 'PAUSED' })
    expect(problems).toEqual([])
  })
})

describe('wheelhouse', () => {
  test('queries a platform from its own installation', async () => {
    const owner = await world.client()
    await world.robot(owner, { name: 'Arm' })
    const env = { WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: (await owner.key()).key }
    const { stdout, stderr } = await installed.run('wheelhouse', ['robots', 'list', '--json'], env)
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'Arm', status: 'OFFLINE' }])
    expect(stderr).toBe('')
  })
})
