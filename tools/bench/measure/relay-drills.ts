import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from '../lab.ts'
import type { RelayPlan } from '../options.ts'
import type { PressReport, Stall } from '../relay/drills.ts'
import type { TallyReport } from '../relay/tally.ts'
import type { WheelhouseRelay } from '../relay/wheelhouse.ts'
import type { Row } from '../report.ts'
import { figure, percentile } from '../stats.ts'
import { latencies, missing } from './relay-rows.ts'
import type { Generator, Tools } from './relay-runs.ts'

const DEADMAN_MS = 250
const MOST_SILENCE_MS = 270
const MOST_PRESS_MS = 5
/** Outage: the latency may differ by so much, as two runs do. */
const SAME_P50_US = 30
const SAME_P99_RATIO = 1.5
/** After the stores answer again, the gateway writes what has waited. */
const RECOVERY_MS = 3_000
const PRESS_HZ = 10
/** People press one stop at a time; what one leaves to be recorded does not hold up the next. */
const PRESS_EVERY_MS = 60

interface Drill {
  readonly lab: Lab
  readonly plan: RelayPlan
  readonly relay: WheelhouseRelay
  readonly tools: Tools
  /** Pairs that are connected already. */
  readonly connected: number
}

/** What only Wheelhouse does: it goes on without its stores, and it stops robots. */
export async function drillRows(drill: Drill): Promise<Row[]> {
  const { plan, relay, connected } = drill
  const { generator } = drill.tools
  const outage = await outageRows(drill)
  const stalls = await generator('stalls', plan.stallingPairs, plan.stallsEach, 'binary')
  await relay.connect(generator, connected, Math.max(connected, plan.presses))
  await relay.watch(generator, plan.presses / 2, plan.presses)
  return [...outage, ...stallRows(stalls), ...(await pressRows(plan, generator))]
}

/** The same driving before and after PostgreSQL and Redis are held up in the middle of it. */
async function outageRows({ lab, plan, tools: { generator } }: Drill): Promise<Row[]> {
  const [rate] = plan.rates
  if (!rate) return []
  await generator('startSteady', { ...rate, form: 'binary', pace: 'spinning' })
  await delay(plan.warmUpMs)
  const stretch = async () => {
    await generator('mark')
    await delay(plan.outageSeconds * 1_000)
    return await generator('report')
  }
  const before = await stretch()
  await lab.stores.hold()
  let without: TallyReport
  try {
    without = await stretch()
  } finally {
    lab.stores.release()
  }
  const after = await stretch()
  const { lost } = await generator('stopDriving')
  await delay(RECOVERY_MS)
  const same =
    without.latency.p50Us <= before.latency.p50Us + SAME_P50_US &&
    without.latency.p99Us <= before.latency.p99Us * SAME_P99_RATIO
  const complete = lost === 0 && without.closed === 0 && Object.keys(without.dropped).length === 0
  const name = `Wheelhouse, binary, ${rate.pairs} pairs at ${rate.hz} Hz`
  const row = (when: string, report: TallyReport): Row => ({
    what: `${name}: ${when}`,
    measured: latencies(report.latency),
  })
  return [
    row('before an outage', before),
    {
      ...row('while PostgreSQL and Redis are held up', without),
      measured: `${latencies(without.latency)}; ${missing({ lost, report: without })}`,
      goal: `p50 ≤ +${SAME_P50_US} µs, p99 ≤ × ${SAME_P99_RATIO}, none lost`,
      met: same && complete,
    },
    row('after they have gone on', after),
  ]
}

function stallRows(stalls: readonly Stall[]): Row[] {
  const afterMs = stalls.flatMap((stall) => stall.afterMs ?? [])
  const once = stalls.filter(({ stops, reasons }) => stops === 1 && reasons[0] === 'deadman').length
  const worstMs = Math.max(...afterMs)
  const shares = [0.5, 0.99].map((share) => figure(percentile(afterMs, share)))
  const inTime = worstMs <= MOST_SILENCE_MS && Math.min(...afterMs) >= DEADMAN_MS
  const otherwise = stalls.filter(({ stops, reasons }) => stops !== 1 || reasons[0] !== 'deadman')
  const told = otherwise.slice(0, 3).map(({ reasons }) => `[${reasons.join(', ')}]`)
  return [
    {
      what: 'operator silent: its last control frame → stop at the robot, p50 / p99 / max',
      measured: `${[...shares, figure(worstMs)].join(' / ')} ms`,
      goal: `≤ ${MOST_SILENCE_MS} ms, never early`,
      met: afterMs.length === stalls.length && inTime,
    },
    {
      what: '— exactly one stop',
      measured: [`${once} of ${stalls.length}`, ...told].join(', '),
      goal: 'all',
      met: once === stalls.length,
    },
  ]
}

/** Every pair drives; half of them are stopped by their operators and half by their watchers. */
async function pressRows(plan: RelayPlan, generator: Generator): Promise<Row[]> {
  const half = plan.presses / 2
  await generator('startSteady', { pairs: plan.presses, hz: PRESS_HZ, form: 'binary', pace: 'resting' })
  await delay(plan.warmUpMs)
  const byOperators = await generator('presses', 'operator', 0, half, PRESS_EVERY_MS)
  const byWatchers = await generator('presses', 'watcher', half, plan.presses, PRESS_EVERY_MS)
  await generator('stopDriving')
  const moved = await generator('movedUnderStop')
  const load = `${figure(plan.presses * PRESS_HZ)} control frames a second`
  return [
    pressRow(`stop pressed by the operator → robot, under ${load}`, byOperators),
    pressRow(`stop pressed by a watcher → robot, under ${load}`, byWatchers),
    {
      what: '— control frames that reached a robot after its stop',
      measured: figure(moved),
      goal: '0',
      met: moved === 0,
    },
  ]
}

function pressRow(what: string, { pressed, latency, missed }: PressReport): Row {
  const p99Ms = latency.p99Us / 1_000
  return {
    what: `${what}, p50 / p99 / max`,
    measured: `${[latency.p50Us, latency.p99Us, latency.maxUs].map((us) => figure(us / 1_000)).join(' / ')} ms; ${pressed - missed} of ${pressed} stopped`,
    goal: `p99 ≤ ${MOST_PRESS_MS} ms, all`,
    met: p99Ms <= MOST_PRESS_MS && missed === 0,
  }
}
