import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { OperatorLink, ticketsOf } from '../../../packages/sdk/index.ts'
import { startPythonRobot } from '../../support/examples/example-robots.ts'
import type { Sample } from '../../support/examples/scripted-robot-gateway.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Drives examples/python/robot.py through a real gateway with data channels.

const FRAME_MS = 40
const OPEN = 'data channel open'

let world: World
beforeAll(async () => {
  // Neither a deadman nor a silence halts the robot in these tests: only the stops that they send.
  const env = { GATEWAY_UDP_PORT: '', DEADMAN_MS: '30000', HEARTBEAT_TIMEOUT_MS: '60000' }
  world = await createWorld({ env })
})
afterAll(() => world[Symbol.asyncDispose]())

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Creates a proxy whose bytes to the robot can be held back; those from the robot always pass. */
async function createHeldProxy() {
  let gate = Promise.resolve()
  let release = () => {}
  const createFilter = () =>
    new Transform({ transform: (chunk, _encoding, done) => void gate.then(() => done(null, chunk)) })
  const proxy = await createTcpProxy(world.gatewayUrl, { createFilter })
  cleanups.push(
    () => proxy[Symbol.asyncDispose](),
    () => release(),
  )
  return {
    proxy,
    hold(): void {
      const held = Promise.withResolvers<void>()
      gate = held.promise
      release = held.resolve
    },
    release: () => release(),
  }
}

/** Connects the robot and its operator, who repeats the newest command. */
async function drive(options: Parameters<typeof startPythonRobot>[1]) {
  const [owner, user] = [await world.client(), await world.operator()]
  const machine = await world.robot(owner)
  await tolerateLatency(world, machine.id)
  const { proxy, hold, release } = await createHeldProxy()
  const url = `${proxy.url.replace(/\/$/, '')}/robots/${machine.id}/control`
  const robot = await startPythonRobot(async () => ({ url, token: machine.token }), options)
  cleanups.push(() => robot[Symbol.asyncDispose]())
  const sessionId = await waitFor(() => start(user, machine.id))

  let sample: Sample | undefined
  let speedMps = 0
  const operator = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: world.baseUrl, sessionId, part: 'control', token: user.token }),
    PeerConnection: null, // only the robot has a channel
    onTelemetry: (data) => {
      sample = data as Sample
    },
  })
  cleanups.push(() => operator.close())
  await operator.connect()
  const timer = setInterval(() => operator.control({ linear_mps: speedMps, angular_radps: 0 }), FRAME_MS)
  cleanups.push(() => clearInterval(timer))
  return {
    robot,
    operator,
    hold,
    release,
    /** Commands a speed, and waits until the robot has it. */
    async reach(mps: number): Promise<void> {
      speedMps = mps
      await waitFor(() => expect(sample?.velocity.linear_mps).toBeCloseTo(mps))
    },
    halted: () => waitFor(() => expect(sample?.standing).toBe(true)),
    opened: (times: number) => waitFor(() => expect(robot.output().split(OPEN)).toHaveLength(times + 1)),
  }
}

/** Ends the process that has the data channels of this process's gateway. */
function killChannelProcess(): void {
  const children = readdirSync('/proc').filter((pid) => {
    try {
      const parent = / (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '')?.[1]
      const isChild = Number(parent) === process.pid
      return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('channel-process')
    } catch {
      return false // not a process, or one that has ended
    }
  })
  expect(children).toHaveLength(1)
  process.kill(Number(children[0]), 'SIGKILL')
}

test('commands and stops reach robot.py over the data channel while its WebSocket brings nothing', async () => {
  const { operator, hold, reach, halted, opened } = await drive({ modules: ['websockets', 'aiortc'] })
  await reach(0.5)
  await opened(1)
  hold()
  await reach(-0.5)
  await reach(0.25)
  void operator.stop('an obstacle')
  await halted()
})

test('robot.py continues over its WebSocket when the data channels end, and opens another one', async () => {
  const { hold, reach, opened } = await drive({ modules: ['websockets', 'aiortc'] })
  await opened(1)
  await reach(0.5)
  killChannelProcess()
  await reach(-0.5)
  await opened(2)
  hold()
  await reach(0.5)
})

test('robot.py without aiortc uses its WebSocket', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-python-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'aiortc.py'), 'print("aiortc is missing", flush=True)\nraise ImportError\n')
  const { operator, robot, reach, halted } = await drive({ env: { PYTHONPATH: folder } })
  await reach(0.5)
  void operator.stop('an obstacle')
  await halted()
  expect(robot.output()).toContain('aiortc is missing')
})
