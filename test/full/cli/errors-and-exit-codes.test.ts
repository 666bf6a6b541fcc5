import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageFile from '../../../packages/cli/package.json' with { type: 'json' }
import { cli } from '../../support/cli/in-process.ts'
import {
  type CliUser,
  CTRL_C,
  cliProcess,
  createCliUser,
  endCommands,
  openTerminal,
  startCli,
} from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
let owner: TestUser
let user: CliUser
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  const { key } = await owner.key()
  user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key })
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** Starts a fake platform, and a user of it. */
async function impostor(listener: RequestListener) {
  const server = await listening(listener)
  const user = await createCliUser({ WHEELHOUSE_URL: server.url, WHEELHOUSE_API_KEY: 'svc_live_some' })
  return { ...server, user }
}

const session = '00000000-0000-4000-8000-000000000002'

const answering = (status: number, type: string, body: string, headers: Record<string, string> = {}) =>
  impostor((_request, response) => response.writeHead(status, { 'Content-Type': type, ...headers }).end(body))

describe.concurrent('the command line', () => {
  test('prints its version and its commands', async () => {
    expect(await cliProcess(user, ['--version'])).toMatchObject({
      code: 0,
      stdout: `${packageFile.version}\n`,
    })
    const { code, stdout } = await cliProcess(user, ['--help'])
    expect(code).toBe(0)
    for (const text of ['robots', 'sessions', 'stop', 'login', 'NODE_EXTRA_CA_CERTS', 'Exit codes']) {
      expect(stdout).toContain(text)
    }
  })

  test.each([
    [['robot'], "unknown command 'robot'"],
    [['robots', 'list', '--status', 'GONE'], 'Allowed choices'],
    [['robots', 'list', '--battery-below', '0'], 'from 1 to 100'],
    [['robots', 'show'], "missing required argument 'robot'"],
    [['sessions', 'rate', 'x', '9'], 'from 1 to 5'],
    [['sessions', 'schedule', 'x', 'tomorrow'], 'Enter a time such as'],
    [['notification-settings', 'quiet-hours', '22-7'], 'Enter two times such as'],
    [['notification-settings', 'quiet-hours', '22:00-07:00', '--days', 'monday'], 'Enter days such as'],
    [['notification-settings', 'set', 'money', 'pigeon', 'on'], 'Allowed choices'],
    [['robots', 'list', '--server', 'ftp://x'], 'is not the address of a platform'],
  ])('%j: wrong usage fails with a message, as text and as JSON', async (args, expectedError) => {
    const { code, stdout, stderr } = await cliProcess(user, args)
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(expectedError),
    })
    const jsonResult = await cli(user, [...args, '--json'])
    expect(JSON.parse(jsonResult.stderr)).toEqual({
      error: expect.stringContaining(expectedError),
      code: 'usage',
    })
  })

  test('a refusal prints the message of the platform and sets the exit code', async () => {
    const unrelatedUser = '00000000-0000-4000-8000-000000000000'
    const missing = await cli(user, ['robots', 'show', unrelatedUser, '--json'])
    expect(missing).toMatchObject({ code: 4, stdout: '' })
    expect(JSON.parse(missing.stderr)).toEqual({ error: 'Robot not found.', code: 'not_found' })
    expect(await cli(user, ['admin', 'overview'])).toMatchObject({ code: 7 })
    const unrelatedClient = await createCliUser({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_API_KEY: 'svc_live_x',
    })
    expect(await cli(unrelatedClient, ['whoami'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`wheelhouse login ${world.baseUrl}`),
    })
    expect((await cli(await createCliUser({ WHEELHOUSE_URL: world.baseUrl }), ['whoami'])).code).toBe(3)
  })

  test('an unreachable platform', async () => {
    let removed: string
    {
      await using server = await answering(200, 'text/plain', '')
      removed = server.url
    }
    const away = await createCliUser({ WHEELHOUSE_URL: removed, WHEELHOUSE_API_KEY: 'svc_live_x' })
    const { code, stderr } = await cli(away, ['robots', 'list', '--json'])
    expect(code).toBe(6)
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'unreachable',
      error: expect.stringContaining('connection refused'),
    })
  })

  test.each([
    ['a web page', 200, 'text/html', '<html>', 6, 'web page'],
    [
      'a proxy whose platform is down',
      502,
      'text/html',
      '<html>',
      6,
      'Check that the platform behind it runs',
    ],
    ['no JSON', 200, 'application/json', '{"half":', 6, 'cannot be reached'],
    ['a refusal of no platform', 418, 'text/plain', 'teapot', 1, 'answered 418'],
  ])('an address that answers with %s', async (_, status, type, body, exit, expectedError) => {
    await using other = await answering(status, type, body)
    const { code, stderr } = await cli(other.user, ['robots', 'list'])
    expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringContaining(expectedError) })
  })

  test('a redirect is not followed with the credential', async () => {
    const shown: unknown[] = []
    await using elsewhere = await impostor((request, response) => {
      shown.push(request.headers.authorization)
      response.end('{}')
    })
    await using other = await answering(308, 'text/plain', '', { Location: `${elsewhere.url}/api` })
    const { code, stderr } = await cli(other.user, ['robots', 'list'])
    expect({ code, stderr }).toEqual({
      code: 6,
      stderr: expect.stringContaining(`redirects to ${elsewhere.url}`),
    })
    expect(shown).toEqual([])
  })

  test('too many requests: prints when to try again', async () => {
    await using busy = await answering(429, 'application/json', '{"error":"Slow down"}', {
      'Retry-After': '7',
    })
    expect(await cli(busy.user, ['robots', 'list'])).toMatchObject({
      code: 8,
      stderr: 'wheelhouse: Slow down. Try again in 7 s.\n',
    })
  })

  test('a request whose response is lost is repeated once with the same key', async () => {
    const keys: unknown[] = []
    await using shaky = await impostor((request, response) => {
      keys.push(request.headers['idempotency-key'])
      if (keys.length === 1) return void request.socket.destroy()
      response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"message":"asked"}')
    })
    expect(await cli(shaky.user, ['sessions', 'extend', session, '5'])).toMatchObject({
      code: 0,
      stdout: 'asked\n',
    })
    expect(keys).toEqual([keys[0], keys[0]])
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  const stopped = { id: session, robot_name: 'Arm', status: 'PAUSED', control: { stop: { reason: 'x' } } }

  test('a stop is repeated until it is recorded', async () => {
    const answers: RequestListener[] = [
      (request) => request.socket.destroy(),
      (_, response) =>
        response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"error":"Away"}'),
      (_, response) => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>'),
      () => {}, // no answer at all
      (_, response) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(stopped)),
    ]
    const enteredKeys: unknown[] = []
    await using shaky = await impostor(async (request, response) => {
      const answer = answers[enteredKeys.length] as RequestListener
      enteredKeys.push(await new Response(request as never).json())
      answer(request, response)
    })
    const { code, stdout, stderr } = await cliProcess(shaky.user, ['stop', session, '--reason', 'Halt'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Stopped Arm') })
    expect(stderr.match(/not recorded yet/g)).toHaveLength(1)
    expect(enteredKeys).toEqual(answers.map(() => ({ action: 'emergency_stop', reason: 'Halt' })))
  })

  test.each([
    ['paused', ['ACTIVE', 'PAUSED', 'PAUSED']],
    ['resumed', ['PAUSED', 'ACTIVE', 'ACTIVE']],
  ])('a session that is %s between two lists of open ones is stopped, once', async (_, statuses) => {
    let lists = 0
    const stops: string[] = []
    await using platform = await impostor((request, response) => {
      const url = new URL(request.url ?? '', 'http://platform')
      if (request.method === 'PATCH') stops.push(url.pathname)
      const sessions = url.searchParams.get('status') === statuses[lists] ? [stopped] : []
      if (request.method === 'GET') lists++
      request.resume()
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(request.method === 'GET' ? { sessions, nextCursor: null } : stopped))
    })
    const { code, stdout } = await cliProcess(platform.user, ['stop'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Stopped Arm') })
    expect(stops).toEqual([`/api/sessions/${session}`])
  })

  test('a stop continues when standard error is closed', async () => {
    let keyPressCount = 0
    const spoken = Promise.withResolvers<void>()
    await using shaky = await impostor((request, response) => {
      request.resume()
      const isAway = ++keyPressCount < 4
      if (keyPressCount === 3) spoken.resolve()
      response.writeHead(isAway ? 503 : 200, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(isAway ? { error: 'Away' } : stopped))
    })
    const program = startCli(shaky.user, ['stop', session])
    program.child.stderr?.destroy()
    await spoken.promise
    expect(await program.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped Arm') })
  })

  test('a stop that is not recorded in time warns that the robot may move', async () => {
    await using away = await answering(503, 'application/json', '{"error":"Away"}')
    const { code, stderr } = await cliProcess(away.user, ['stop', session, '--within', '1', '--json'])
    expect(code).toBe(6)
    expect(stderr).toContain('The robot may still move')
  })

  test('Ctrl-C during a stop prints the same warning', async () => {
    await using away = await answering(503, 'application/json', '{"error":"Away"}')
    const screen = openTerminal(away.user, ['stop', session])
    await screen.shows('not recorded yet')
    screen.type(CTRL_C)
    expect((await screen.ended).code).toBe(130)
    expect(screen.shown()).toContain('The robot may still move')
  })

  test('Ctrl-C ends a request', async () => {
    let asked = () => {}
    const arrived = new Promise<void>((done) => {
      asked = done
    })
    await using silent = await impostor(() => asked())
    const screen = openTerminal(silent.user, ['robots', 'list'])
    await arrived
    screen.type(CTRL_C)
    expect((await screen.ended).code).toBe(130)
    expect(screen.shown()).toContain('Interrupted')
  })

  test('SIGTERM sets its own exit code', async () => {
    let asked = () => {}
    const arrived = new Promise<void>((done) => {
      asked = done
    })
    await using silent = await impostor(() => asked())
    const program = startCli(silent.user, ['robots', 'list', '--json'])
    await arrived
    program.signal('SIGTERM')
    const { code, stderr } = await program.ended
    expect(code).toBe(143)
    expect(JSON.parse(stderr)).toEqual({ error: 'Interrupted.', code: 'terminated' })
  })

  test('a closed reader ends it without an error', async () => {
    const robots = Array.from({ length: 20_000 }, (_, id) => ({
      id: `${id}`,
      name: 'n',
      robot_type: 't',
      status: 'OFFLINE',
    }))
    await using much = await answering(200, 'application/json', JSON.stringify(robots))
    const program = startCli(much.user, ['robots', 'list'])
    program.child.stdout?.once('data', () => program.child.stdout?.destroy())
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe.concurrent('what it prints', () => {
  test.runIf(process.platform === 'linux')('and cannot be written is an error, not silence', async () => {
    await using server = await answering(200, 'application/json', '[]')
    const inShell = [
      '-c',
      '"$0" "$@" > /dev/full',
      process.execPath,
      'packages/cli/main.ts',
      'robots',
      'list',
      '--json',
    ]
    const child = spawn('/bin/sh', inShell, { env: server.user.env, stdio: ['ignore', 'ignore', 'pipe'] })
    let expectedError = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      expectedError += text
    })
    const [code] = await once(child, 'close')
    expect({ code, expectedError: JSON.parse(expectedError) }).toEqual({
      code: 1,
      expectedError: { error: 'Standard output cannot be written (ENOSPC).', code: 'refused' },
    })
  })

  test('of the cause of an error contains no credential', async () => {
    await using server = await impostor((request) => request.socket.destroy())
    const env = { ...server.user.env, WHEELHOUSE_DEBUG: '1', WHEELHOUSE_API_KEY: 'svc_live_Secret9' }
    const { code, stderr } = await cliProcess({ ...server.user, env }, ['sessions', 'extend', session, '5'])
    expect(code).toBe(6)
    expect(stderr).toContain('    at ')
    expect(stderr).not.toContain('Secret9')
  })

  const hostile = 'Arm\u001b[2J\u001b]0;owned\u0007\u202egnp\r\nfake'
  const robot = {
    id: '00000000-0000-4000-8000-000000000001',
    name: hostile,
    robot_type: 'so-101',
    status: 'AVAILABLE',
    last_heartbeat: null,
  }

  test('of other users is escaped for the terminal and unchanged in JSON', async () => {
    await using other = await answering(200, 'application/json', JSON.stringify([robot]))
    const { stdout } = await cli({ ...other.user, env: { ...other.user.env, FORCE_COLOR: '1' } }, [
      'robots',
      'list',
    ])
    expect(stripVTControlCharacters(stdout).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    expect(stdout).toContain('Arm\\u001b[2J')
    expect((await cli(other.user, ['robots', 'list', '--json'])).json).toEqual([robot])
  })

  test('in an error of the platform is escaped', async () => {
    await using other = await answering(409, 'application/json', JSON.stringify({ error: hostile }))
    const { code, stderr } = await cli(other.user, ['robots', 'list'])
    expect(code).toBe(5)
    expect(stderr.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('fits the terminal with full ids, and has colours only where the terminal supports them', async () => {
    const long = { ...robot, name: '長い名前 '.repeat(30) }
    await using other = await answering(200, 'application/json', JSON.stringify([long]))
    const narrow = openTerminal(other.user, ['robots', 'list'], { columns: 70, rows: 10 })
    expect((await narrow.ended).code).toBe(0)
    const lines = narrow.shown().trimEnd().split(/\r?\n/)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain(robot.id)
    expect(lines[1]).toContain('…')
    expect(narrow.written()).toContain('\u001b[32m')
    const plain = { ...other.user, env: { ...other.user.env, NO_COLOR: '1' } }
    const grey = openTerminal(plain, ['robots', 'list'])
    await grey.ended
    expect(grey.written()).not.toContain('\u001b[')
    const piped = await cli(other.user, ['robots', 'list'])
    expect(piped.stdout).toContain(long.name.trimEnd())
    expect(piped.stdout).not.toContain('\u001b[')
  })
})

describe.concurrent('completion', () => {
  test.each(['bash', 'zsh', 'fish', 'powershell'])('a script for %s', async (shell) => {
    const { code, stdout } = await cliProcess(user, ['complete', shell])
    expect(code).toBe(0)
    expect(stdout).toContain('wheelhouse complete')
  })

  test('suggests commands, options and values', async () => {
    const suggested = async (...words: string[]) => {
      const { stdout } = await cliProcess(user, ['complete', '--', ...words])
      return stdout.split('\n').map((line) => line.split('\t')[0])
    }
    expect(await suggested('rob')).toEqual(['robots', ':4', ''])
    expect(await suggested('sessions', 'cl')).toContain('clear-stop')
    expect(await suggested('robots', 'list', '--')).toEqual(expect.arrayContaining(['--status', '--json']))
    expect(await suggested('sessions', 'list', '--status', '')).toContain('PAUSED')
  })

  test('rejects unknown shells', async () => {
    expect((await cliProcess(user, ['complete', 'csh'])).code).toBe(2)
    expect((await cliProcess(user, ['complete'])).code).toBe(2)
  })
})
