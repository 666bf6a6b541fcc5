import { setTimeout as delay } from 'node:timers/promises'
import type { Child, Children } from '../../../test/support/processes/children.ts'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Generator } from './generator.ts'
import type { BeatReport, Flood } from './heartbeat-load.ts'
import type { Destination, RobotIdentity } from './robot-socket.ts'

/** Sockets per generator process; the development machine limits a process to 20,000 files. */
const ROBOTS_PER_PROCESS = 9_500
const LEAST_PROCESSES = 2
/** Connections from one source address to one server: the kernel's range of ports has about 28,000. */
const PROCESSES_PER_ADDRESS = 2

/** The load generator as the benchmark uses it: robots spread over several processes. */
export interface Fleet {
  /** Connects every robot; settles when all are admitted. */
  open(robots: readonly RobotIdentity[], to: Destination): Promise<void>
  startSteady(perSecond: number, followed: number): Promise<string[]>
  startFlood(flood: Flood): Promise<void>
  stopBeats(): Promise<void>
  report(): Promise<BeatReport[]>
  /** Sends one heartbeat for every robot, spread over a second. */
  beatOnce(): Promise<void>
  ackedTimes(): Promise<{ id: string; ackedTimesMs: number[] }[]>
  lastAcked(): Promise<Map<string, number>>
  /** Destroys all sockets at once; returns the times of the first and the last, in Unix milliseconds. */
  drop(): Promise<{ firstAtMs: number; lastAtMs: number }>
  stop(): Promise<void>
}

export async function startFleet(children: Children, robotCount: number): Promise<Fleet> {
  const count = Math.max(LEAST_PROCESSES, Math.ceil(robotCount / ROBOTS_PER_PROCESS))
  const processes = Array.from({ length: count }, () => children.run('lab/bench/fleet/generator.ts'))
  const ports = processes.map(({ process }) => readyPort(process))
  const calls = processes.map(({ process }) => callerOf<Generator>(process))
  await Promise.all(ports)
  return fleetOf(calls, processes)
}

function fleetOf(calls: readonly Call<Generator>[], processes: readonly Child[]): Fleet {
  const all = <R>(ask: (call: Call<Generator>, index: number) => Promise<R>) => Promise.all(calls.map(ask))
  const fleet: Fleet = {
    async open(robots, to) {
      const share = Math.ceil(robots.length / calls.length)
      await all((call, index) =>
        call('open', robots.slice(index * share, (index + 1) * share), { ...to, ...source(index) }),
      )
    },
    startSteady: async (perSecond, followed) =>
      (await all((call) => call('startSteady', perSecond, Math.ceil(followed / calls.length)))).flat(),
    startFlood: async (flood) => void (await all((call) => call('startFlood', flood))),
    stopBeats: async () => void (await all((call) => call('stopBeats'))),
    report: () => all((call) => call('report')),
    async beatOnce() {
      await fleet.startSteady(1, 0)
      await delay(1_000)
      await fleet.stopBeats()
    },
    ackedTimes: async () => (await all((call) => call('ackedTimes'))).flat(),
    async lastAcked() {
      const parts = await all((call) => call('lastAcked'))
      return new Map(
        parts.flatMap(({ ids, lastAckedMs }) =>
          ids.map((id, at): [string, number] => [id, lastAckedMs[at] ?? 0]),
        ),
      )
    },
    async drop() {
      const times = await all((call) => call('drop'))
      return {
        firstAtMs: Math.min(...times.map((time) => time.firstAtMs)),
        lastAtMs: Math.max(...times.map((time) => time.lastAtMs)),
      }
    },
    stop: async () => void (await Promise.all(processes.map((child) => child.stop()))),
  }
  return fleet
}

/** Processes in excess of one source address's ports use further loopback addresses, which Linux provides. */
function source(index: number): { localAddress?: string } {
  const address = Math.floor(index / PROCESSES_PER_ADDRESS) + 1
  return address === 1 || process.platform !== 'linux' ? {} : { localAddress: `127.0.0.${address}` }
}
