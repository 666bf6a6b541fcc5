import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { createBeating, type Flood } from './heartbeat-load.ts'
import { type Destination, type RobotIdentity, RobotSocket } from './robot-socket.ts'

// One process of the load generator: simulates several thousand robots on behalf of the benchmark.

/** Maximum of concurrent handshakes; more would overflow the servers' accept queues and wait for TCP's retries. */
const HANDSHAKES_AT_A_TIME = 128

const beating = createBeating()
let robots: RobotSocket[] = []

async function open(identities: readonly RobotIdentity[], to: Destination): Promise<number> {
  const startedMs = performance.now()
  const queue = identities.values()
  const opened: RobotSocket[] = []
  if (to.expectsBeats) beating.keepAlive(opened)
  const channel = async () => {
    for (const identity of queue) opened.push(await RobotSocket.connect(identity, to, beating.callbacks))
  }
  await Promise.all(Array.from({ length: HANDSHAKES_AT_A_TIME }, channel))
  robots = opened
  return performance.now() - startedMs
}

const handlers = {
  open,
  /** Sends this many heartbeats a second for every robot, evenly spread. The first few robots are observed closely. */
  startSteady(perSecond: number, followed: number): string[] {
    const close = robots.slice(0, followed)
    for (const robot of close) robot.ackedTimesMs = []
    beating.startSteady(robots, perSecond)
    return close.map((robot) => robot.id)
  },
  startFlood: (flood: Flood) => beating.startFlood(robots, flood),
  stopBeats: () => beating.stop(),
  report: () => beating.report(robots),
  /** Returns every acknowledged time of the observed robots. */
  ackedTimes: () => robots.flatMap(({ id, ackedTimesMs }) => (ackedTimesMs ? [{ id, ackedTimesMs }] : [])),
  /** Returns the newest acknowledged time of every robot. */
  lastAcked: () => ({
    ids: robots.map((robot) => robot.id),
    lastAckedMs: Float64Array.from(robots, (robot) => robot.lastAckedMs),
  }),
  /** Destroys every socket at once; returns the times of the first and the last. */
  drop() {
    const firstAtMs = performance.timeOrigin + performance.now()
    for (const robot of robots) robot.destroy()
    robots = []
    return { firstAtMs, lastAtMs: performance.timeOrigin + performance.now() }
  },
}
export type Generator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends this process
sendReady(0)
