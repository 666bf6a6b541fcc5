import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pairingCommand } from '../../../packages/console/src/robots/snippets.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The robot that the console starts with one line, without a checkout and without packages.

let world: World
let owner: TestUser
let folder: string
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
})
afterAll(() => world?.[Symbol.asyncDispose]())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wheelhouse-connect-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Runs a line of a shell in the folder, with the Node of the tests. */
function runLine(line: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    detached: true, // the line starts further processes, which end with its group
    env: { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, ...env },
  })
  const printed = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      printed.text += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid as number), name)
  }
  const killAtExit = () => signal('SIGKILL')
  process.once('exit', killAtExit)
  return {
    printed,
    ended,
    enter: (text: string) => child.stdin.write(`${text}\n`),
    async [Symbol.asyncDispose]() {
      signal('SIGTERM')
      await ended
      process.off('exit', killAtExit)
    },
  }
}

const statusOf = async (id: string) => (await owner.get(`/api/client/robots/${id}`)).body.status
const createCode = async (id: string) =>
  (await owner.post(`/api/client/robots/${id}/pairing-code`)).body.code as string

test('the command of the console pairs a robot, which drives, and connects again without a code', async () => {
  const operator = await world.operator()
  const robot = await world.robot(owner, { name: 'One line', require_certification: false })
  await owner.patch(`/api/client/robots/${robot.id}`, { latency_limit_ms: 10_000 })
  {
    await using program = runLine(pairingCommand(world.baseUrl))
    program.enter((await createCode(robot.id)).toLowerCase())
    await waitFor(async () => expect(await statusOf(robot.id), program.printed.text).toBe('AVAILABLE'))
    expect(program.printed.text).toContain('Paired with One line')

    const sessionId = await start(operator, robot.id)
    const driver = await world.drive(operator, sessionId)
    const forward = setInterval(() => driver.control({ linear_mps: 0.5, angular_radps: 0 }), 40)
    try {
      await waitFor(async () => {
        const { data } = await driver.next('telemetry')
        expect(data.pose.x_m).toBeGreaterThan(0.05)
      })
    } finally {
      clearInterval(forward)
    }
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  }
  await waitFor(async () => expect(await statusOf(robot.id)).toBe('OFFLINE'))
  const file = join(folder, 'wheelhouse-robot.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ name: 'One line', token: robot.token })

  await using again = runLine('node robot.mjs')
  await waitFor(async () => expect(await statusOf(robot.id), again.printed.text).toBe('AVAILABLE'))
})

test('a wrong or used code ends the program with the reason', async () => {
  const robot = await world.robot(owner)
  const code = await createCode(robot.id)
  await using wrong = runLine(pairingCommand(world.baseUrl))
  wrong.enter('22222-22222')
  expect(await wrong.ended).toBe(1)
  expect(wrong.printed.text).toContain('This pairing code is not valid')

  await using first = runLine('node robot.mjs', { PAIRING_CODE: code })
  await waitFor(async () => expect(await statusOf(robot.id), first.printed.text).toBe('AVAILABLE'))
  await using second = runLine('node robot.mjs', { PAIRING_CODE: code })
  expect(await second.ended).toBe(1)
  expect(second.printed.text).toContain('This pairing code was used before')
})

test('only the files of the robots are served, with a strict content security policy', async () => {
  const get = (path: string) => fetch(`${world.baseUrl}${path}`, { redirect: 'manual' })
  expect((await get('/phone-robot')).headers.get('Location')).toBe('/connect/robot.html')
  const page = await get('/connect/robot.html')
  expect(page.headers.get('Content-Type')).toMatch(/^text\/html/)
  expect(page.headers.get('Content-Security-Policy')).toContain("script-src 'self'")
  const example = await readFile(new URL('../../../examples/python/robot.py', import.meta.url), 'utf8')
  expect(await (await get('/connect/robot.py')).text()).toBe(example)
  for (const path of ['/connect/drive.html', '/connect/..%2fREADME.md', '/connect/', '/connect/__proto__'])
    expect((await get(path)).status, path).toBe(404)
  expect((await fetch(`${world.baseUrl}/connect/robot.mjs`, { method: 'POST' })).status).toBe(405)
})
