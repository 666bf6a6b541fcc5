import { setTimeout as delay } from 'node:timers/promises'
import { heartbeatFrame } from '../fleet/wire.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { startObserver } from '../robot-status-client.ts'
import { resetPresence } from '../seed.ts'
import { figure, percentile } from '../stats.ts'
import { startWheelhouse } from '../targets.ts'
import { connectRobots } from './robots.ts'

const TIMEOUT_MS = 3_500
/** The last frames are spread over this time, so that they meet the server's timers at any phase. */
const SPREAD_MS = 2_000
const WAIT_TIMEOUT_MS = 5_000
const LATE_GOAL_MS = 250

/** Measures how long after its timeout a robot with an open but silent socket is seen OFFLINE. */
export async function measureSilence(lab: Lab, plan: Plan): Promise<Section> {
  await resetPresence(lab.db, 'away')
  const wheelhouse = await startWheelhouse(lab, 'single', { heartbeatTimeoutMs: TIMEOUT_MS })
  try {
    const observer = await startObserver(lab, wheelhouse.hubUrl)
    const robots = await connectRobots(lab.robots.slice(0, plan.silentRobots), wheelhouse.destination)
    const lastSignMs = new Map<string, number>()
    const lateMs: number[] = []
    observer.onOffline((robotId, atMs) => lateMs.push(atMs - (lastSignMs.get(robotId) ?? 0) - TIMEOUT_MS))
    await Promise.all(
      robots.map(async (robot) => {
        await delay(Math.random() * SPREAD_MS)
        lastSignMs.set(robot.id, performance.now())
        robot.send(heartbeatFrame)
      }),
    )
    const untilMs = performance.now() + TIMEOUT_MS + WAIT_TIMEOUT_MS
    while (lateMs.length < robots.length && performance.now() < untilMs) await delay(50)
    observer.close()
    for (const robot of robots) robot.destroy()
    const seen = lateMs.length === robots.length
    const worstMs = Math.max(...lateMs)
    return {
      title: 'Silent robots, until a watching client sees OFFLINE',
      rows: [
        { what: 'robots seen OFFLINE', measured: `${lateMs.length} of ${robots.length}`, met: seen },
        { what: 'later than the timeout, p50', measured: `${figure(percentile(lateMs, 0.5))} ms` },
        {
          what: 'later than the timeout, worst',
          measured: `${figure(worstMs)} ms`,
          goal: `≤ ${LATE_GOAL_MS} ms, never early`,
          met: seen && worstMs <= LATE_GOAL_MS && Math.min(...lateMs) >= -1,
        },
      ],
      notes: [
        `The socket stays open; the timeout of ${figure(TIMEOUT_MS)} ms is counted from the robot's last frame. One process with all roles.`,
      ],
    }
  } finally {
    await wheelhouse.stop()
  }
}
