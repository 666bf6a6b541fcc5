import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import type { Child } from '../../../test/support/processes/children.ts'
import type { Probe } from '../../../test/support/processes/probe.ts'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import { acceptsConnections, findProgram } from '../../../test/support/programs/installed-programs.ts'
import type { Lab } from '../lab.ts'
import { processUsage } from '../programs.ts'
import type { RelayAddress } from './endpoint-socket.ts'
import type { RelayGenerator } from './generator.ts'
import type { Form } from './payload.ts'
import type { End } from './wires/wire.ts'

const START_LIMIT_MS = 10_000

export interface RelayUsage {
  readonly cpuUs: number
  readonly rssBytes: number
}

/** A process between operators and robots. */
export interface Relay {
  readonly name: string
  /** The measured forms. */
  readonly forms: readonly Form[]
  /** Connects the pairs from `from` to before `to`. */
  connect(generator: Call<RelayGenerator>, from: number, to: number): Promise<void>
  /** Returns the usage of the relay's own process; undefined where the system does not report it. */
  usage(): Promise<RelayUsage | undefined>
  stop(): Promise<void>
}

export const relayNames = {
  mosquitto: 'mosquitto, QoS 0',
  nats: 'nats-server',
  socketIo: 'Socket.IO',
  ws: 'ws',
  bare: 'bare uWebSockets.js',
  bareAgain: 'bare uWebSockets.js, repeated',
  wheelhouse: 'Wheelhouse gateway',
  wheelhouseRealTime: 'Wheelhouse gateway, GATEWAY_REALTIME',
} as const

/** The reason why a relay cannot be measured here. */
export type Absent = string

/** Starts the relay that is measured before Wheelhouse and after it: two equal runs show the difference between any two runs. */
export async function startBareRelay(lab: Lab, again = false): Promise<Relay> {
  const name = again ? relayNames.bareAgain : relayNames.bare
  return await ofOurs(lab, name, 'lab/bench/servers/relay-uws.ts', 'WebSocket', ['JSON', 'binary'])
}

export async function startWsRelay(lab: Lab): Promise<Relay> {
  return await ofOurs(lab, relayNames.ws, 'lab/bench/servers/relay-ws.ts', 'WebSocket', ['JSON', 'binary'])
}

export async function startSocketIoRelay(lab: Lab): Promise<Relay> {
  return await ofOurs(lab, relayNames.socketIo, 'lab/bench/servers/relay-socketio.ts', 'Socket.IO', ['JSON'])
}

async function ofOurs(
  lab: Lab,
  name: string,
  file: string,
  speaks: RelayAddress['speaks'],
  forms: readonly Form[],
): Promise<Relay> {
  const child = lab.children.run(file)
  const address = { port: await readyPort(child.process), speaks }
  return { name, forms, connect: connecting(address), usage: probedUsage(child), stop: () => child.stop() }
}

export async function startMosquitto(lab: Lab): Promise<Relay | Absent> {
  const program = findProgram('mosquitto')
  if (!program) return 'mosquitto is not installed (Debian: apt-get install mosquitto)'
  const port = await freePort()
  const file = join(lab.dataDir, 'mosquitto.conf')
  // Its defaults would wait for more data (Nagle) and store messages on disk.
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    'persistence false',
    'set_tcp_nodelay true',
    'sys_interval 0',
    'log_dest stderr',
    'log_type error',
    ...(process.getuid?.() === 0 ? ['user root'] : []),
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return await startExternalRelay(lab, relayNames.mosquitto, [program, '-c', file], { port, speaks: 'MQTT' })
}

export async function startNats(lab: Lab): Promise<Relay | Absent> {
  const program = findProgram('nats-server')
  if (!program) return 'nats-server is not installed (Debian: apt-get install nats-server)'
  const port = await freePort()
  const command = [program, '--addr', '127.0.0.1', '--port', String(port)]
  return await startExternalRelay(lab, relayNames.nats, command, { port, speaks: 'NATS' })
}

/** Creates a third-party server: it reports nothing about itself, and its messages are opaque to it. */
async function startExternalRelay(
  lab: Lab,
  name: string,
  command: readonly string[],
  address: RelayAddress,
): Promise<Relay> {
  const [program = '', ...args] = command
  const child = lab.children.program(program, args)
  let ended = false
  child.ended.then(() => {
    ended = true
  })
  await waitUntil(async () => ended || (await acceptsConnections(address.port)), START_LIMIT_MS)
  if (ended) throw new Error(`${program} did not start:\n${child.output()}`)
  return {
    name,
    forms: ['binary'],
    connect: connecting(address),
    usage: () => processUsage(child.process.pid ?? 0),
    stop: () => child.stop(),
  }
}

const connecting =
  (address: RelayAddress): Relay['connect'] =>
  async (generator, from, to) => {
    const pairs = Array.from({ length: to - from }, (_, index) => from + index)
    const ends = pairs.flatMap((pair): End[] => [
      { pair, side: 'robot' },
      { pair, side: 'operator' },
    ])
    await generator('open', ends, address)
  }

/** Returns the usage of one of our processes, which reports it exactly. */
export function probedUsage(child: Child): Relay['usage'] {
  const probe = callerOf<Probe>(child.process)
  return async () => ({ cpuUs: (await probe('usage')).cpuUs, rssBytes: await probe('rss') })
}
