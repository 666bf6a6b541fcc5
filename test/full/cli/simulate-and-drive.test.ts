import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { DriveKeys, driveScreen, emptyDriveView } from '../../../packages/cli/drive.ts'
import { atCommandLine, entriesOf, robotOnline } from '../../support/cli/cli-world.ts'
import {
  CTRL_C,
  cliProcess,
  createCliUser,
  endCommands,
  openTerminal,
  startCli,
} from '../../support/cli/terminal.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
beforeAll(async () => {
  // On a busy machine, the robots' heartbeats are late too.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(async () => await world[Symbol.asyncDispose]())

const at = (testUser: TestUser, env: Record<string, string> = {}) => atCommandLine(world, testUser, env)
const robotsOf = async (owner: TestUser) => (await owner.get('/api/client/robots')).body
const statusesOf = async (owner: TestUser) =>
  (await robotsOf(owner)).map(({ status }: { status: string }) => status)

describe('wheelhouse simulate', () => {
  test('registers robots that operators can drive, ends them with Ctrl-C, and reuses them in the next call', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const user = await at(owner)
    const fleet = startCli(user, ['simulate', '2', '--json', '--type', 'testbot', '--name', 'Sim'])
    await waitFor(async () => expect(await statusesOf(owner)).toEqual(['AVAILABLE', 'AVAILABLE']))
    const robots = await robotsOf(owner)
    expect(robots[1]).toMatchObject({ name: 'Sim 1', robot_type: 'testbot', tags: ['simulated'] })
    const { body } = await operator.post('/api/sessions', { robotId: robots[0].id })
    const link = await world.drive(operator, body.sessionId)
    await fleet.expectText(`"session":{"id":"${body.sessionId}","status":"ACTIVE"}`)
    await link.next('telemetry')
    await owner.patch(`/api/sessions/${body.sessionId}`, { action: 'end' })
    await fleet.expectText(/"link":"online","reason":"","session":null\}\n[\s\S]*ACTIVE[\s\S]*"session":null/)

    fleet.signal('SIGINT')
    const { code, stdout } = await fleet.ended
    expect(code).toBe(130)
    const last = new Map(entriesOf(stdout).map(({ robot_id, link: state }) => [robot_id, state]))
    expect([...last.values()]).toEqual(['closed', 'closed'])
    // A closed connection makes a robot OFFLINE at once, without waiting for its heartbeat timeout.
    await waitFor(async () => expect(await statusesOf(owner)).toEqual(['OFFLINE', 'OFFLINE']))

    const file = join(user.configHome, 'wheelhouse', 'simulated-robots.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(stdout).not.toContain(JSON.parse(await readFile(file, 'utf8')).robots[0].robot_token)
    await chmod(file, 0o644)
    const again = startCli(user, ['simulate', '3', '--name', 'Sim', '--type', 'testbot'])
    await waitFor(async () => expect(await statusesOf(owner)).toEqual(Array(3).fill('AVAILABLE')))
    expect(await robotsOf(owner)).toMatchObject([{ name: 'Sim 3' }, { name: 'Sim 2' }, { name: 'Sim 1' }])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    again.signal('SIGTERM')
    expect((await again.ended).code).toBe(143)
  })

  test('shows the fleet in a terminal, and replaces a removed robot with a new one', async () => {
    const owner = await world.client()
    const user = await at(owner)
    const first = openTerminal(user, ['simulate'])
    await first.shows(/1 simulated robots at .*: 1 online, 0 in a session/)
    await first.shows(/Simulated 1 +online +x 1\.00 m, y 1\.00 m, battery 90 %/)
    first.type(CTRL_C)
    expect((await first.ended).code).toBe(130)
    const [{ id }] = await robotsOf(owner)
    await waitFor(async () => expect((await owner.delete(`/api/client/robots/${id}`)).status).toBe(204))
    const second = openTerminal(user, ['simulate'])
    await second.shows(/: 1 online/)
    expect((await robotsOf(owner))[0].id).not.toBe(id)
    second.type(CTRL_C)
    await second.ended
  })

  test('uses robots of a file without a sign-in, and fails when the platform refuses all of them', async () => {
    const owner = await world.client()
    const { id, token } = await world.robot(owner)
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    const file = join(user.configHome, 'robots.jsonl')
    const control_url = `${world.gatewayUrl}/robots/${id}/control`
    await writeFile(file, `${JSON.stringify({ id, control_url, robot_token: token })}\n`)
    const fleet = startCli(user, ['simulate', '--token-file', file])
    await fleet.expectText('robot 1 online')
    await owner.post(`/api/client/robots/${id}/token`)
    const { code, stderr } = await fleet.ended
    expect(code).toBe(1)
    expect(stderr).toContain('has refused all robots')
  })

  test('reconnects when the platform is reachable again', async () => {
    const owner = await world.client()
    const { id, token } = await world.robot(owner)
    await using gateway = await createTcpProxy(world.gatewayUrl)
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    const file = join(user.configHome, 'robots.json')
    const control_url = new URL(`/robots/${id}/control`, gateway.url).href
    await writeFile(file, JSON.stringify([{ id, control_url, robot_token: token }]))
    const fleet = startCli(user, ['simulate', '--token-file', file, '--json'])
    await fleet.expectText('"link":"online"')
    gateway.cut()
    await fleet.expectText('"link":"offline","reason":"close code 1006"')
    gateway.restore()
    await fleet.expectText(/"offline"[\s\S]*"online"/)
  })

  test('rejects invalid arguments', async () => {
    const owner = await world.client()
    const user = await at(owner)
    const file = join(user.configHome, 'empty.json')
    await writeFile(file, '[]')
    const results = await Promise.all([
      cliProcess(user, ['simulate', '0']),
      cliProcess(user, ['simulate', '101']),
      cliProcess(user, ['simulate', '--token-file', file]),
      cliProcess(user, ['simulate', '--token-file', '/nowhere']),
      cliProcess(await at(await world.operator()), ['simulate']),
      cliProcess(await createCliUser({ WHEELHOUSE_URL: world.baseUrl }), ['simulate']),
    ])
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 7, 3])
    expect(await robotsOf(owner)).toEqual([])
  })
})

/** Runs `npm run drive` with keys from a pipe. */
function npmRunDrive(env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, ['tools/demo/drive.ts', ...args], {
    stdio: 'pipe',
    env,
  }) as ChildProcess
  let sent = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (sent += text))
  const ended = once(child, 'exit').then(([code]) => code as number)
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  return { child, sent: () => sent, ended }
}

describe('wheelhouse drive', () => {
  test('in a terminal, Ctrl-C halts a moving robot and ends the session', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id, robot } = await robotOnline(world, owner, 'Ronja')
    const drive = openTerminal(await at(operator), ['drive', id])
    await drive.shows(/online, session ACTIVE, robot connected/)
    await waitFor(() => {
      drive.type('w')
      expect(robot.state.leftMps).toBeGreaterThan(0.2)
    })
    drive.type(CTRL_C)
    expect((await drive.ended).code).toBe(130)
    await waitFor(() => expect([robot.state.leftMps, robot.state.rightMps]).toEqual([0, 0]))
    expect(await robotsOf(owner)).toMatchObject([{ id, status: 'AVAILABLE' }])
    const { sessions } = (await owner.get('/api/sessions')).body
    expect(sessions).toMatchObject([{ status: 'COMPLETED' }])
  })

  test('an earlier session stays open, and a session that cannot be ended is reported', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id, robot } = await robotOnline(world, owner, 'Ronja')
    const { sessionId } = (await operator.post('/api/sessions', { robotId: id })).body
    for (const named of [[sessionId], [id], []]) {
      const drive = startCli(await at(operator), ['drive', ...named, '--json'])
      await drive.expectText(`"session_id":"${sessionId}","started_here":false`)
      drive.child.stdin?.end()
      const { code, stdout } = await drive.ended
      expect(code).toBe(0)
      expect(entriesOf(stdout).at(-1)).toEqual({ type: 'end', reason: 'end of input' })
    }
    const read = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
    expect((await read()).status).not.toBe('COMPLETED')
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })

    await using api = await createTcpProxy(world.baseUrl)
    const drive = startCli(await at(operator, { WHEELHOUSE_URL: api.url }), ['drive', id])
    await drive.expectText(/session [0-9a-f-]{36}/)
    await waitFor(() => {
      drive.child.stdin?.write('w')
      expect(robot.state.leftMps).toBeGreaterThan(0.1)
    })
    api.cut()
    drive.child.stdin?.write('q')
    const { code, stderr } = await drive.ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/still open .* wheelhouse sessions end [0-9a-f-]{36}/)
    await waitFor(() => expect([robot.state.leftMps, robot.state.rightMps]).toEqual([0, 0]))
    const open = (await owner.get('/api/sessions?limit=1')).body.sessions[0]
    await owner.patch(`/api/sessions/${open.id}`, { action: 'end' })
  })

  test('npm run drive uses the key of the demo operator that npm start has stored', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id } = await robotOnline(world, owner, 'Ronja')
    const user = await createCliUser({})
    const { key } = await operator.key()
    await writeFile(join(user.configHome, 'demo-keys.json'), JSON.stringify({ operator: key }))
    const env = { ...user.env, DATA_DIR: user.configHome, PORT: new URL(world.baseUrl).port }
    const drive = npmRunDrive(env, id)
    await waitFor(() => expect(drive.sent()).toMatch(/session [0-9a-f-]{36}/))
    drive.child.stdin?.write('q')
    expect(await drive.ended).toBe(0)
    expect((await operator.get('/api/sessions')).body.sessions).toMatchObject([{ status: 'COMPLETED' }])
  })

  test('rejects invalid arguments', async () => {
    const operator = await world.operator()
    const user = await at(operator)
    const results = await Promise.all([
      cliProcess(user, ['drive', 'nonsense']),
      cliProcess(user, ['drive', '00000000-0000-4000-8000-000000000000']),
      cliProcess({ ...user, env: { ...user.env, WHEELHOUSE_URL: 'http://127.0.0.1:1' } }, ['drive']),
      cliProcess(await at(await world.client()), ['drive']),
    ])
    expect(results.map(({ code }) => code)).toEqual([4, 4, 6, 7])
    for (const { stderr } of results) expect(stderr).not.toContain('    at ')
  })
})

describe('held keys', () => {
  test('count until their repetition is overdue, with a longer timeout for the first one', () => {
    const keys = new DriveKeys()
    keys.typed('w', 0)
    expect(keys.command(590).linearMps).toBeGreaterThan(0)
    expect(keys.command(610).linearMps).toBe(0)
    keys.typed('w', 1_000)
    keys.typed('w', 1_500)
    expect(keys.command(1_640).linearMps).toBeGreaterThan(0)
    expect(keys.command(1_660).linearMps).toBe(0)
  })

  test('combine, reverse at once, and end with space or the stop', () => {
    const keys = new DriveKeys()
    keys.typed('W\u001b[D', 0)
    expect(keys.command(1)).toEqual({ linearMps: 0.5, angularRadps: 1.2 })
    keys.typed('s', 2)
    expect(keys.command(3).linearMps).toBe(-0.5)
    expect(keys.typed(' ', 4)).toEqual(['halt'])
    expect(keys.command(5)).toEqual({ linearMps: 0, angularRadps: 0 })
    expect(keys.typed('dx', 6)).toEqual(['stop'])
    expect(keys.command(7)).toEqual({ linearMps: 0, angularRadps: 0 })
  })
})

test('the drive screen marks old telemetry and shows a latched stop', () => {
  const lines = driveScreen(
    {
      ...emptyDriveView,
      telemetry: { pose: { x_m: 1, y_m: 2, heading_rad: Math.PI } },
      telemetryAtMs: 1_000,
      state: {
        type: 'state',
        status: 'PAUSED',
        robot_connected: true,
        stop: { reason: 'fire', latched: true, recorded: false },
      },
    },
    'the-id-of-the-session',
    4_000,
  ).join('\n')
  expect(lines).toContain('x 1.00 m, y 2.00 m, 180°  OLD, 3.0 s ago')
  expect(lines).toContain('session    the-id-of-the-session')
  expect(lines).toContain('LATCHED: fire (not recorded yet)')
})
