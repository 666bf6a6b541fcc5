import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { SimulatedRobot } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { DriveKeys } from '../src/demo/drive-keys.ts'
import { screen } from '../src/demo/drive-screen.ts'
import { createWorld, type World } from './support/world.ts'

const patience = { timeout: 15_000, interval: 20 }

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** `npm run drive` with keys from a pipe. */
function terminal(...args: string[]) {
  const child = spawn(process.execPath, ['src/demo/drive.ts', ...args], { stdio: 'pipe' }) as ChildProcess
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  const ended = once(child, 'exit').then(([code]) => code as number)
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  return { type: (keys: string) => child.stdin?.write(keys), said: () => said, ended }
}

describe('npm run drive', () => {
  test('takes a robot, drives it with the keyboard, stops it and gives it back', {
    timeout: 60_000,
  }, async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id, token } = await world.robot(owner)
    const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
    await robot.start()
    onTestFinished(() => robot.close())
    const { key } = await operator.key()
    const start = { ...robot.state }

    const { type, said, ended } = terminal('--api', world.baseUrl, '--key', key, '--robot', id)
    await vi.waitFor(() => expect(said()).toMatch(/session [0-9a-f-]{36}/), patience)
    const sessionId = /session ([0-9a-f-]{36})/.exec(said())?.[1] as string
    await vi.waitFor(() => {
      type('w')
      expect(robot.state.xM - start.xM).toBeGreaterThan(0.3)
    }, patience)
    await vi.waitFor(() => {
      type('\u001b[D')
      expect(robot.state.headingRad - start.headingRad).toBeGreaterThan(0.2)
    }, patience)

    type('x')
    const read = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
    await vi.waitFor(async () => {
      expect((await read()).control.stop?.reason).toBe('stopped at the keyboard')
    }, patience)
    await vi.waitFor(() => expect([robot.state.leftMps, robot.state.rightMps]).toEqual([0, 0]), patience)
    type('w')
    type('c')
    await vi.waitFor(async () => expect((await read()).control.stop).toBeNull(), patience)
    type('r')
    await vi.waitFor(async () => expect((await read()).status).toBe('ACTIVE'), patience)
    const stood = robot.state.xM
    await vi.waitFor(() => {
      type('s')
      expect(robot.state.xM).not.toBe(stood)
    }, patience)
    type('q')
    expect(await ended).toBe(0)
    expect((await read()).status).toBe('COMPLETED')
    await vi.waitFor(async () => expect((await read()).latency?.frames).toBeGreaterThan(10), patience)
  })

  test.each([
    [['--robot', 'nonsense'], 'robot'],
    [['--key', 'svc_live_nonsense'], '/api/operator/availability'],
    [['--api', 'http://127.0.0.1:1', '--key', 'k'], 'does not answer'],
    [['--data-dir', '/nowhere'], 'No --key'],
    [['--nonsense'], 'npm run drive'],
  ])('says what is wrong: %s', async (args, words) => {
    const { said, ended } = terminal('--api', world.baseUrl, ...args)
    expect(await ended).toBe(1)
    expect(said()).toContain(words)
    expect(said()).not.toContain('    at ')
  })
})

describe('keys that are held', () => {
  test('count until their repetition is overdue: first half a second, then a moment', () => {
    const keys = new DriveKeys()
    keys.typed('w', 0)
    expect(keys.command(590).linear_mps).toBeGreaterThan(0)
    expect(keys.command(610).linear_mps).toBe(0)
    keys.typed('w', 1_000)
    keys.typed('w', 1_500)
    expect(keys.command(1_640).linear_mps).toBeGreaterThan(0)
    expect(keys.command(1_660).linear_mps).toBe(0)
  })

  test('combine, turn round at once, and end with space or the stop', () => {
    const keys = new DriveKeys()
    keys.typed('W\u001b[D', 0)
    expect(keys.command(1)).toEqual({ linear_mps: 0.5, angular_radps: 1.2 })
    keys.typed('s', 2)
    expect(keys.command(3).linear_mps).toBe(-0.5)
    expect(keys.typed(' ', 4)).toEqual(['stand'])
    expect(keys.command(5)).toEqual({ linear_mps: 0, angular_radps: 0 })
    expect(keys.typed('dx', 6)).toEqual(['stop'])
    expect(keys.command(7)).toEqual({ linear_mps: 0, angular_radps: 0 })
  })
})

test('the screen shows nothing that could steer the terminal', () => {
  const lines = screen({
    ...{
      connection: 'online',
      latency: null,
      telemetry: { pose: 'none' },
      note: 'a\u001b[2Jb\nc',
      lastDrop: '',
    },
    ...{ command: { linear_mps: 0, angular_radps: 0 }, sent: 0, obeyed: 0, dropped: 0 },
    state: {
      ...{ type: 'state', status: 'PAUSED', robot_connected: true },
      stop: { reason: 'fire\u0007\u001b]0;x', latched: true, recorded: false },
    },
  })
  expect(lines.join('')).not.toMatch(/\p{Cc}/u)
  expect(lines.join('\n')).toContain('LATCHED: fire')
  expect(lines.join('\n')).toContain('not recorded yet')
})
