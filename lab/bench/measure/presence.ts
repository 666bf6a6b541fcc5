import { setTimeout as delay } from 'node:timers/promises'
import { startFleet } from '../fleet/fleet.ts'
import type { RobotSocket } from '../fleet/robot-socket.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Row, Section } from '../report.ts'
import { type Observer, startObserver } from '../robot-status-client.ts'
import { resetPresence } from '../seed.ts'
import { figure, percentile } from '../stats.ts'
import { type Shape, startWheelhouse, type Wheelhouse } from '../targets.ts'
import { connectRobots } from './robots.ts'

/** Robots here are closed, not silent. */
const TIMEOUT_MS = 600_000
const SETTLE_MS = 1_000
const FLIP_LIMIT_MS = 5_000
const DROP_LIMIT_MS = 30_000
const FLIP_P50_GOAL_MS = 3
const FLIP_P99_GOAL_MS = 15
const DROP_GOAL_MS = 1_000

/** Measures how soon a watching client sees that robots are gone: a single one, and thousands at once. */
export async function measurePresence(lab: Lab, plan: Plan): Promise<Section> {
  const rows = await inShape(lab, plan, 'single', 'one process')
  if (lab.redisUrl) rows.push(...(await inShape(lab, plan, 'split', 'gateway and hub separate, Redis')))
  return {
    title: 'Closed sockets, until a watching client sees OFFLINE',
    rows,
    notes: [
      `${plan.flips} robots are disconnected one at a time, each 5 to 25 ms after the flip of the previous one was received. ` +
        'One process destroys the socket and listens as Socket.IO client (`robots:watch` as the owner).',
      `At once: the load generator destroys ${figure(plan.droppedRobots)} sockets at once; from the first socket to the client's last event. ` +
        'The time includes the destruction itself, which is shown in parentheses.',
      ...(lab.redisUrl
        ? []
        : ['Without redis-server, gateway and hub could not be measured in separate processes.']),
    ],
  }
}

async function inShape(lab: Lab, plan: Plan, shape: Shape, name: string): Promise<Row[]> {
  await resetPresence(lab.db, 'away')
  const wheelhouse = await startWheelhouse(lab, shape, { heartbeatTimeoutMs: TIMEOUT_MS })
  try {
    const observer = await startObserver(lab, wheelhouse.hubUrl)
    const flipsMs = await flips(lab, plan, wheelhouse, observer)
    const drop = await massDrop(lab, plan, wheelhouse, observer)
    observer.close()
    const p50Ms = percentile(flipsMs, 0.5)
    const p99Ms = percentile(flipsMs, 0.99)
    return [
      {
        what: `flip p50, ${name}`,
        measured: `${figure(p50Ms)} ms`,
        goal: `≤ ${FLIP_P50_GOAL_MS} ms`,
        met: p50Ms <= FLIP_P50_GOAL_MS,
      },
      {
        what: `flip p99, ${name}`,
        measured: `${figure(p99Ms)} ms (max ${figure(Math.max(...flipsMs))})`,
        goal: `≤ ${FLIP_P99_GOAL_MS} ms`,
        met: p99Ms <= FLIP_P99_GOAL_MS,
      },
      {
        what: `${figure(plan.droppedRobots)} at once, ${name}`,
        measured: `${figure(drop.allSeenMs)} ms (destroying took ${figure(drop.destroyingMs)})`,
        goal: `≤ ${figure(DROP_GOAL_MS)} ms`,
        met: drop.allSeenMs <= DROP_GOAL_MS,
      },
    ]
  } finally {
    await wheelhouse.stop()
  }
}

async function flips(lab: Lab, plan: Plan, wheelhouse: Wheelhouse, observer: Observer): Promise<number[]> {
  const robots = await connectRobots(lab.robots.slice(0, plan.flips), wheelhouse.destination)
  await delay(SETTLE_MS)
  const tookMs: number[] = []
  for (const robot of robots) {
    await delay(5 + Math.random() * 20)
    tookMs.push(await flip(robot, observer))
  }
  return tookMs
}

function flip(robot: RobotSocket, observer: Observer): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a closed robot was not seen OFFLINE')), FLIP_LIMIT_MS)
    const closedAtMs = performance.now()
    observer.onOffline((robotId, atMs) => {
      if (robotId !== robot.id) return
      clearTimeout(timer)
      resolve(atMs - closedAtMs)
    })
    robot.destroy()
  })
}

async function massDrop(lab: Lab, plan: Plan, wheelhouse: Wheelhouse, observer: Observer) {
  const robots = lab.robots.slice(0, plan.droppedRobots)
  const fleet = await startFleet(lab.children, robots.length)
  try {
    await fleet.open(robots, wheelhouse.destination)
    await fleet.beatOnce()
    await delay(SETTLE_MS)
    const missing = new Set(robots.map((robot) => robot.id))
    const allPersisted = new Promise<number>((resolve, reject) => {
      const giveUp = () => reject(new Error(`${missing.size} dropped robots were not seen OFFLINE`))
      const timer = setTimeout(giveUp, DROP_LIMIT_MS)
      observer.onOffline((robotId, atMs) => {
        missing.delete(robotId)
        if (missing.size > 0) return
        clearTimeout(timer)
        resolve(performance.timeOrigin + atMs)
      })
    })
    const [{ firstAtMs, lastAtMs }, allPersistedAtMs] = await Promise.all([fleet.drop(), allPersisted])
    return { allSeenMs: allPersistedAtMs - firstAtMs, destroyingMs: lastAtMs - firstAtMs }
  } finally {
    await fleet.stop()
  }
}
