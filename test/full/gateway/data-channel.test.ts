import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OperatorLink, RobotLink, ticketsOf } from '../../../packages/sdk/index.ts'
import { channelProcesses } from '../../support/gateway/test-channel.ts'
import { FaultyNetwork } from '../../support/network/faulty-peer-connection.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const FRAME_MS = 20
const quick = { baseMs: 5, maxMs: 50 }

let world: World
const cleanups: (() => unknown)[] = []
beforeEach(async () => {
  world = await createWorld({
    env: { GATEWAY_UDP_PORT: '', DEADMAN_MS: '2000', HEARTBEAT_TIMEOUT_MS: '60000' },
  })
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await world[Symbol.asyncDispose]()
})

const withoutSlash = (url: string) => url.replace(/\/$/, '')

/** Connects a robot and an operator in a session, each with a network for its data channel. */
async function connect(
  options: {
    /** Addresses of the gateway, instead of the gateway. */
    gatewayUrl?: string
    robotUrl?: string
    operatorUrl?: string
    /** Whether no data channel can open. */
    unreachable?: boolean
  } = {},
) {
  const [owner, user] = [await world.client(), await world.operator()]
  const machine = await world.robot(owner)
  const networks = { robot: new FaultyNetwork(), operator: new FaultyNetwork() }
  networks.robot.unreachable = networks.operator.unreachable = options.unreachable === true
  const robotUrl = withoutSlash(options.robotUrl ?? options.gatewayUrl ?? world.gatewayUrl)
  const operatorUrl = withoutSlash(options.operatorUrl ?? options.gatewayUrl ?? world.gatewayUrl)
  const received: unknown[] = []
  const stops: string[] = []
  const acks: number[] = []
  const dropped: string[] = []
  const errors: unknown[] = []
  const robot = new RobotLink({
    url: `${robotUrl}/robots/${machine.id}/control`,
    token: machine.token,
    reconnect: quick,
    PeerConnection: networks.robot.PeerConnection,
    onControl: ({ seq, data }) => {
      received.push(data)
      robot.ack(seq)
    },
    onBinaryControl: (payload) => received.push([...payload]),
    onStop: ({ reason, latched }) => {
      stops.push(`${reason}${latched ? ' latched' : ''}`)
      robot.stopped(reason)
    },
    onError: (cause) => errors.push(cause),
  })
  cleanups.push(() => robot.close())
  await robot.connect()
  await tolerateLatency(world, machine.id)
  await waitFor(() => expect(robot.robotId).toBe(machine.id))
  const sessionId = await start(user, machine.id)
  const getTicket = ticketsOf({ baseUrl: world.baseUrl, sessionId, part: 'control', token: user.token })
  const operator = new OperatorLink({
    getTicket: async (...args) => {
      const ticket = await getTicket(...args)
      return { ...ticket, url: ticket.url.replace(world.gatewayUrl, operatorUrl) }
    },
    reconnect: quick,
    silenceMs: 60_000,
    PeerConnection: networks.operator.PeerConnection,
    onAck: (seq) => acks.push(seq),
    onDropped: (_seq, why) => dropped.push(why),
    onError: (cause) => errors.push(cause),
  })
  cleanups.push(() => operator.close())
  await operator.connect()
  return { owner, user, robot, operator, networks, received, stops, acks, dropped, errors, sessionId }
}

let count = 0
/** Drives until the end of the test, or of the returned function. */
function drive(operator: OperatorLink): () => void {
  const timer = setInterval(() => operator.control({ count: ++count }), FRAME_MS)
  const end = () => clearInterval(timer)
  cleanups.push(end)
  return end
}

const bothUseTheChannel = ({ robot, operator }: Awaited<ReturnType<typeof connect>>) =>
  waitFor(() => expect([operator.transport, robot.transport]).toEqual(['data_channel', 'data_channel']))

/** Waits until the robot has obeyed this many further commands. */
async function obeysFurther(received: readonly unknown[], count: number): Promise<void> {
  const before = received.length
  await waitFor(() => expect(received.length).toBeGreaterThanOrEqual(before + count))
}

const isRising = (values: readonly number[]) =>
  values.every((value, index) => index === 0 || value > (values[index - 1] as number))

describe('over data channels', () => {
  test('commands and acknowledgements pass, JSON and binary', async () => {
    const links = await connect()
    const { operator, received, acks, stops, errors } = links
    drive(operator)
    await bothUseTheChannel(links)
    await obeysFurther(received, 50)
    await waitFor(() => expect(acks.length).toBeGreaterThan(50))
    await waitFor(() => {
      operator.controlBinary(Uint8Array.of(7, 8))
      expect(received).toContainEqual([7, 8])
    })
    expect({ stops, errors }).toEqual({ stops: [], errors: [] })
  })

  test('commands that arrive late, twice or in another order are obeyed once and in order', async () => {
    const links = await connect()
    const { operator, networks, received, stops, dropped } = links
    drive(operator)
    await bothUseTheChannel(links)
    for (const network of [networks.operator, networks.robot]) {
      network.repeats = true
      await obeysFurther(received, 20)
      network.repeats = false
      network.held = true
      await obeysFurther(received, 20) // over the WebSockets
      network.release()
      await obeysFurther(received, 20)
    }
    expect(isRising(received.map((data) => (data as { count: number }).count))).toBe(true)
    expect({ stops, dropped }).toEqual({ stops: [], dropped: [] })
  })

  test('no command from before a stop is obeyed after it', async () => {
    const links = await connect()
    const { operator, owner, user, robot, networks, received, stops, sessionId } = links
    const stopDriving = drive(operator)
    await bothUseTheChannel(links)
    networks.robot.held = true
    const before = networks.robot.delivered
    await waitFor(() => expect(networks.robot.delivered).toBeGreaterThan(before + 10))
    stopDriving()
    await operator.stop('Person in the way')
    await waitFor(() => expect(stops).toEqual(['Person in the way latched']))
    expect((await performAction(owner, sessionId, 'clear_stop')).control.stop).toBeNull()
    await performAction(user, sessionId, 'resume')
    await waitFor(() => expect([robot.stop?.latched, robot.session?.status]).toEqual([false, 'ACTIVE']))
    const obeyed = received.length
    networks.robot.release()
    operator.control({ count: 1_000_000 })
    await waitFor(() => expect(received.at(-1)).toEqual({ count: 1_000_000 }))
    expect(received).toHaveLength(obeyed + 1)
    expect(stops.filter((stop) => stop.endsWith('latched'))).toHaveLength(1)
  })
})

describe('a stop', () => {
  test('reaches the robot over the data channels while both WebSockets stall, once', async () => {
    await using proxy = await createTcpProxy(world.gatewayUrl)
    const links = await connect({ gatewayUrl: proxy.url })
    const { operator, owner, stops, sessionId } = links
    const stopDriving = drive(operator)
    await bothUseTheChannel(links)
    stopWallClock() // however long the stall lasts, the gateway repeats no stop
    proxy.silence()
    stopDriving()
    const stopped = operator.stop('Person in the way')
    await waitFor(() => expect(stops).toEqual(['Person in the way latched']))
    await waitFor(async () => {
      const { control } = (await owner.get(`/api/sessions/${sessionId}`)).body
      expect(control.stop?.reason).toBe('Person in the way')
    })
    proxy.restore()
    await stopped
    const { events } = (await owner.get(`/api/sessions/${sessionId}/events?limit=200`)).body
    const entries = events.filter(({ type }: { type: string }) => type === 'session.stopped')
    expect(entries).toHaveLength(1)
    expect(stops.filter((stop) => stop.endsWith('latched'))).toHaveLength(1)
  })

  test('reaches the robot over the WebSockets while the network drops the packets of the data channels', async () => {
    const links = await connect()
    const { operator, networks, stops } = links
    drive(operator)
    await bothUseTheChannel(links)
    networks.operator.blocked = networks.robot.blocked = true
    await operator.stop('Person in the way')
    await waitFor(() => expect(stops).toEqual(['Person in the way latched']))
  })
})

describe('driving continues over the WebSockets', () => {
  test('in a network that blocks UDP', async () => {
    const { robot, operator, networks, received, stops } = await connect({ unreachable: true })
    drive(operator)
    await waitFor(() => expect(Math.min(networks.robot.offers, networks.operator.offers)).toBeGreaterThan(0))
    await obeysFurther(received, 50)
    expect([operator.transport, robot.transport]).toEqual(['websocket', 'websocket'])
    expect(stops).toEqual([])
  })

  test.each(['operator', 'robot'] as const)(
    'when the packets of the %s are lost, and the channel returns',
    async (side) => {
      const links = await connect()
      const { networks, received, stops } = links
      drive(links.operator)
      await bothUseTheChannel(links)
      networks[side].blocked = true
      await obeysFurther(received, 50)
      expect(links[side].transport).toBe('websocket')
      networks[side].blocked = false
      await bothUseTheChannel(links)
      await obeysFurther(received, 20)
      expect(stops).toEqual([])
    },
  )

  test('when the process of the data channels is killed, and the channels return', async () => {
    const links = await connect()
    const { networks, received, stops } = links
    drive(links.operator)
    await bothUseTheChannel(links)
    const pids = channelProcesses()
    expect(pids).toHaveLength(1)
    process.kill(pids[0] as number, 'SIGKILL')
    await waitFor(() =>
      expect([links.operator.transport, links.robot.transport]).toEqual(['websocket', 'websocket']),
    )
    await obeysFurther(received, 20)
    await bothUseTheChannel(links)
    expect(networks.operator.offers).toBeGreaterThan(1)
    expect(stops).toEqual([])
  })
})

test('a program of the SDK ends by itself after it has closed its links', async () => {
  const machine = await world.robot(await world.client())
  const program = fileURLToPath(new URL('../../support/programs/channel-robot.ts', import.meta.url))
  const url = `${world.gatewayUrl}/robots/${machine.id}/control`
  const { stdout } = await promisify(execFile)(process.execPath, [program, url, machine.token])
  expect(stdout).toBe('closed\n')
})

test('a robot halts when the data channel and the WebSocket of its operator both die', async () => {
  await using proxy = await createTcpProxy(world.gatewayUrl)
  const links = await connect({ operatorUrl: proxy.url })
  drive(links.operator)
  await bothUseTheChannel(links)
  links.networks.operator.blocked = true
  proxy.silence()
  await waitFor(() => expect(links.stops).not.toEqual([]))
  expect(['deadman', 'operator_lost', 'watchdog']).toContain(links.stops[0])
  const { length } = links.received
  links.networks.operator.blocked = false
  proxy.restore()
  await waitFor(() => expect(links.received.length).toBeGreaterThan(length))
})

test('a robot halts when its data channel and its WebSocket both die', async () => {
  await using proxy = await createTcpProxy(world.gatewayUrl)
  const links = await connect({ robotUrl: proxy.url })
  drive(links.operator)
  await bothUseTheChannel(links)
  links.networks.robot.blocked = true
  proxy.silence()
  await waitFor(() => expect(links.stops).toContain('watchdog'))
})
