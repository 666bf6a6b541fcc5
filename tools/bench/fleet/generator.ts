import { offer, sendReady } from '../rpc.ts'
import { createBeating, type Flood } from './heartbeat-load.ts'
import { type Destination, type RobotIdentity, RobotSocket } from './robot-socket.ts'

// One process of the load generator: holds some thousands of robots and does what the benchmark tells it.

/** Handshakes under way at a time; more would overflow the servers' accept queues and wait for TCP's retries. */
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
  /** Every robot beats so often a second, evenly spread. The first few are followed closely. */
  startSteady(perSecond: number, followed: number): string[] {
    const close = robots.slice(0, followed)
    for (const robot of close) robot.ackedTimesMs = []
    beating.startSteady(robots, perSecond)
    return close.map((robot) => robot.id)
  },
  startFlood: (flood: Flood) => beating.startFlood(robots, flood),
  stopBeats: () => beating.stop(),
  report: () => beating.report(robots),
  /** Every acknowledged time of the robots that are followed. */
  ackedTimes: () => robots.flatMap(({ id, ackedTimesMs }) => (ackedTimesMs ? [{ id, ackedTimesMs }] : [])),
  /** The newest acknowledged time of every robot. */
  lastAcked: () => ({
    ids: robots.map((robot) => robot.id),
    lastAckedMs: Float64Array.from(robots, (robot) => robot.lastAckedMs),
  }),
  /** Destroys every socket in one go; tells when the first and the last one went. */
  drop() {
    const firstAtMs = performance.timeOrigin + performance.now()
    for (const robot of robots) robot.destroy()
    robots = []
    return { firstAtMs, lastAtMs: performance.timeOrigin + performance.now() }
  },
}
export type Generator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends us in its own order
sendReady(0)
