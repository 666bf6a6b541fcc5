import { setTimeout as delay } from 'node:timers/promises'
import { type Fleet, startFleet } from '../fleet/fleet.ts'
import type { BeatReport } from '../fleet/heartbeat-load.ts'
import type { Lab } from '../lab.ts'
import type { Plan } from '../options.ts'
import type { Section } from '../report.ts'
import { resetPresence } from '../seed.ts'
import { figure, percentile, sum } from '../stats.ts'
import { gatewayShape, startWheelhouse, type Target } from '../targets.ts'
import { complaintsOf, unsavedBeats } from './persisted-heartbeats.ts'

const SETTLE_MS = 2_000
/** Robots whose every beat is traced into the database. */
const FOLLOWED_ROBOTS = 200
const POLL_INTERVAL_MS = 20
/** Sampling continues for this time, so that the last beats can arrive. */
const AFTERWARDS_MS = 3_000
const LAG_GOAL_MS = 1_500
/** Acknowledgements in flight when the counts are taken. */
const IN_FLIGHT_SHARE = 0.01

/** Measures robots at 1 Hz on one gateway process, and whether their beats reach the database in time. */
export async function measureSteady(lab: Lab, plan: Plan): Promise<Section> {
  await resetPresence(lab.db, 'away')
  const gateway = await startWheelhouse(lab, gatewayShape(lab))
  const fleet = await startFleet(lab.children, plan.robots)
  try {
    await fleet.open(lab.robots.slice(0, plan.robots), gateway.destination)
    const followed = await fleet.startSteady(1, FOLLOWED_ROBOTS)
    await delay(SETTLE_MS)
    const watched = await watch(lab, plan, fleet, gateway, followed)
    const lags = persistLagsMs(await fleet.ackedTimes(), watched)
    // The robots continue while the gateway shuts down, which is the hardest case for losing nothing.
    await gateway.stop()
    await fleet.stopBeats()
    const unsaved = await unsavedBeats(lab.db, await fleet.lastAcked())
    const section = sectionOf(plan, watched, lags, unsaved)
    return { ...section, notes: [...section.notes, ...complaintsOf(gateway.child)] }
  } finally {
    await fleet.stop()
    await gateway.stop()
  }
}

interface Observation {
  readonly beatMs: number
  readonly seenAtMs: number
}
interface Watched {
  readonly before: readonly BeatReport[]
  readonly after: readonly BeatReport[]
  readonly cpuUs: number
  /** Times at which the database was first seen to contain a beat, robot by robot, oldest first. */
  readonly observations: ReadonlyMap<string, Observation[]>
  readonly fromMs: number
  readonly toMs: number
}

async function watch(
  lab: Lab,
  plan: Plan,
  fleet: Fleet,
  gateway: Target,
  followed: readonly string[],
): Promise<Watched> {
  const fromMs = Date.now()
  const toMs = fromMs + plan.steadySeconds * 1_000
  const looking = observePersistence(lab, followed, toMs + AFTERWARDS_MS)
  const before = await fleet.report()
  const usageBefore = await gateway.probe('usage')
  await delay(toMs - Date.now())
  const after = await fleet.report()
  const usageAfter = await gateway.probe('usage')
  const cpuUs = usageAfter.cpuUs - usageBefore.cpuUs
  return { before, after, cpuUs, observations: await looking, fromMs, toMs }
}

/** Polls the database for the stored beats of some robots. */
async function observePersistence(lab: Lab, robotIds: readonly string[], untilMs: number) {
  const observations = new Map<string, Observation[]>(robotIds.map((id) => [id, []]))
  while (Date.now() < untilMs) {
    const nextMs = Date.now() + POLL_INTERVAL_MS
    const { rows } = await lab.db.query({
      name: 'look',
      text: `select robot_id, extract(epoch from last_heartbeat)::float8 * 1000 as beat_ms
             from robot_presence where robot_id = any($1::uuid[]) and last_heartbeat is not null`,
      values: [robotIds],
    })
    const seenAtMs = Date.now()
    for (const { robot_id, beat_ms } of rows) {
      const seen = observations.get(robot_id)
      if (seen && seen.at(-1)?.beatMs !== beat_ms) seen.push({ beatMs: beat_ms, seenAtMs })
    }
    await delay(Math.max(0, nextMs - Date.now()))
  }
  return observations
}

/** Returns for every acknowledged beat how long it took until the database contained it or a newer one. */
function persistLagsMs(
  acked: readonly { id: string; ackedTimesMs: number[] }[],
  { observations, fromMs, toMs }: Watched,
): number[] {
  return acked.flatMap(({ id, ackedTimesMs }) =>
    ackedTimesMs
      .filter((ackedMs) => ackedMs >= fromMs && ackedMs < toMs)
      .map((ackedMs) => {
        const seen = observations.get(id)?.find((item) => Math.round(item.beatMs) >= ackedMs)
        return seen ? seen.seenAtMs - ackedMs : Number.POSITIVE_INFINITY
      }),
  )
}

function sectionOf(plan: Plan, watched: Watched, lags: readonly number[], unsaved: number): Section {
  const { before, after, cpuUs } = watched
  const total = (reports: readonly BeatReport[], of: (item: BeatReport) => number) => sum(reports.map(of))
  const sent = total(after, (item) => item.sent) - total(before, (item) => item.sent)
  const acked = total(after, (item) => item.acked) - total(before, (item) => item.acked)
  const open = total(after, (item) => item.open)
  const worst = (of: (item: BeatReport) => number) => figure(Math.max(...after.map(of)))
  const lagP99Ms = percentile(lags, 0.99)
  return {
    title: `${figure(plan.robots)} robots at 1 Hz on one gateway process`,
    rows: [
      {
        what: 'robots connected from beginning to end',
        measured: figure(open),
        goal: figure(plan.robots),
        met: open === plan.robots,
      },
      {
        what: `beats acknowledged of those sent in ${plan.steadySeconds} s`,
        measured: `${figure(acked)} of ${figure(sent)}`,
        goal: 'all but those in flight',
        met: acked >= sent - plan.robots * IN_FLIGHT_SHARE,
      },
      {
        what: 'gateway CPU',
        measured: `${figure((cpuUs / 1e6 / plan.steadySeconds) * 100)} % of a core, ${figure(cpuUs / acked)} µs a beat`,
      },
      {
        what: 'beat → acknowledgement, p50 / p99',
        measured: `${worst((item) => item.ackP50Ms)} / ${worst((item) => item.ackP99Ms)} ms`,
      },
      { what: 'persist lag, p50', measured: `${figure(percentile(lags, 0.5))} ms` },
      {
        what: 'persist lag, p99',
        measured: `${figure(lagP99Ms)} ms`,
        goal: `≤ ${figure(LAG_GOAL_MS)} ms`,
        met: lagP99Ms <= LAG_GOAL_MS,
      },
      {
        what: 'acknowledged beats lost by SIGTERM under this load',
        measured: String(unsaved),
        goal: '0',
        met: unsaved === 0,
      },
    ],
    notes: [
      `Persist lag: from the moment the gateway received a beat (\`t\` of its acknowledgement) to the first query of the ` +
        `database that found it or a newer one. ${FOLLOWED_ROBOTS} robots are queried every ${POLL_INTERVAL_MS} ms, which adds up to ` +
        `${POLL_INTERVAL_MS} ms; ${figure(lags.length)} beats.`,
      `The load generator sent its beats late by ${worst((item) => item.latenessP99Ms)} ms (p99), ` +
        `${worst((item) => item.latenessMaxMs)} ms at most; its longest pause was ${worst((item) => item.pauseMaxMs)} ms.`,
      'After SIGTERM, while the robots continue to send, every robot’s last_heartbeat is compared with its last acknowledged beat.',
    ],
  }
}
