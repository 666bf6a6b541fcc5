import { setTimeout as delay } from 'node:timers/promises'
import { startFleet } from '../fleet/fleet.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { resetPresence } from '../seed.ts'
import { figure } from '../stats.ts'
import { gatewayShape, startBare, startWheelhouse, startWsPeer, type Target } from '../targets.ts'

const SETTLE_MS = 1_000
/** Idle robots send nothing, which must not count as silence here. */
const TIMEOUT_MS = 600_000
/** V8 enlarges its young generation in steps of megabytes, which would be attributed to robots. */
const fixedYoungGeneration = ['--min-semi-space-size=16', '--max-semi-space-size=16']
const MOST_RATIO = 1.8
/** With fewer, the free memory of a new process hides the memory of robots. */
const LEAST_ROBOTS = 10_000

interface PerRobot {
  readonly rssBytes: number
  readonly heapBytes: number
}

/** Measures the memory of an idle robot in the server's process. */
export async function measureMemory(lab: Lab, plan: Plan): Promise<Section> {
  const bare = await perRobot(lab, plan, await startBare(lab, fixedYoungGeneration))
  await resetPresence(lab.db, 'connected')
  const ws = await perRobot(lab, plan, await startWsPeer(lab, fixedYoungGeneration))
  await resetPresence(lab.db, 'away')
  const shape = gatewayShape(lab)
  const wheelhouse = await perRobot(
    lab,
    plan,
    await startWheelhouse(lab, shape, { heartbeatTimeoutMs: TIMEOUT_MS, nodeFlags: fixedYoungGeneration }),
  )
  const ratio = wheelhouse.rssBytes / bare.rssBytes
  const measured = ({ rssBytes, heapBytes }: PerRobot) =>
    `${figure(rssBytes)} B, of which ${figure(heapBytes)} B JavaScript heap`
  return {
    title: 'Memory of an idle robot',
    rows: [
      { what: 'bare uWebSockets.js', measured: measured(bare) },
      { what: 'ws', measured: measured(ws) },
      { what: 'Wheelhouse gateway, robot state included', measured: measured(wheelhouse) },
      {
        what: 'Wheelhouse / bare uWebSockets.js',
        measured: figure(ratio),
        ...(plan.idleRobots >= LEAST_ROBOTS && { goal: `≤ ${MOST_RATIO}`, met: ratio <= MOST_RATIO }),
      },
    ],
    notes: [
      `Growth of the process's resident memory after garbage collection, divided by ${figure(plan.idleRobots)} robots that are ` +
        `connected and welcomed, and have sent one heartbeat. ` +
        "V8's young generation is held at one size in all of them.",
      ...(plan.idleRobots < LEAST_ROBOTS ? [`Judged only with ${figure(LEAST_ROBOTS)} robots or more.`] : []),
    ],
  }
}

async function perRobot(lab: Lab, plan: Plan, server: Target): Promise<PerRobot> {
  const fleet = await startFleet(lab.children, plan.idleRobots)
  try {
    await delay(SETTLE_MS)
    const before = await server.probe('memory')
    await fleet.open(lab.robots.slice(0, plan.idleRobots), server.destination)
    await fleet.beatOnce()
    await delay(SETTLE_MS)
    const after = await server.probe('memory')
    return {
      rssBytes: (after.rssBytes - before.rssBytes) / plan.idleRobots,
      heapBytes: (after.heapBytes - before.heapBytes) / plan.idleRobots,
    }
  } finally {
    await fleet.stop()
    await server.stop()
  }
}
