import { setTimeout as delay } from 'node:timers/promises'
import type { Lab } from '../lab.ts'
import type { RelayPlan } from '../options.ts'
import type { Stall, StopReport } from '../relay/fault-runs.ts'
import type { RecorderReport } from '../relay/latency-recorder.ts'
import type { WheelhouseRelay } from '../relay/wheelhouse.ts'
import type { Row } from '../report.ts'
import { figure, percentile } from '../stats.ts'
import { latencies, missing } from './relay-rows.ts'
import type { Generator, Tools } from './relay-runs.ts'

const DEADMAN_MS = 250
const MOST_SILENCE_MS = 270
const MAX_STOP_MS = 5
/** Outage: accepted difference in latency, as between any two runs. */
const SAME_P50_US = 30
const SAME_P99_RATIO = 1.5
/** After the stores answer again, the gateway writes the queued rows. */
const RECOVERY_MS = 3_000
const STOP_TEST_HZ = 10
/** Stops are requested one at a time, so that persisting one does not delay the next. */
const STOP_INTERVAL_MS = 60

interface FaultRun {
  readonly lab: Lab
  readonly plan: RelayPlan
  readonly relay: WheelhouseRelay
  readonly tools: Tools
  /** Pairs that are already connected. */
  readonly connected: number
}

/** Measures functions that only Wheelhouse has: control during an outage of its stores, and stops. */
export async function faultRows(faultRun: FaultRun): Promise<Row[]> {
  const { plan, relay, connected } = faultRun
  const { generator } = faultRun.tools
  const outage = await outageRows(faultRun)
  const stalls = await generator('stalls', plan.stallingPairs, plan.stallsEach, 'binary')
  await relay.connect(generator, connected, Math.max(connected, plan.stopRequests))
  await relay.watch(generator, plan.stopRequests / 2, plan.stopRequests)
  return [...outage, ...stallRows(stalls), ...(await stopRows(plan, generator))]
}

/** Compares the same control before, during and after a pause of PostgreSQL and Redis. */
async function outageRows({ lab, plan, tools: { generator } }: FaultRun): Promise<Row[]> {
  const [rate] = plan.rates
  if (!rate) return []
  await generator('startSteady', { ...rate, form: 'binary', mode: 'spinning' })
  await delay(plan.warmUpMs)
  const interval = async () => {
    await generator('mark')
    await delay(plan.outageSeconds * 1_000)
    return await generator('report')
  }
  const before = await interval()
  await lab.stores.block()
  let without: RecorderReport
  try {
    without = await interval()
  } finally {
    lab.stores.release()
  }
  const after = await interval()
  const { lost } = await generator('stopDriving')
  await delay(RECOVERY_MS)
  const same =
    without.latency.p50Us <= before.latency.p50Us + SAME_P50_US &&
    without.latency.p99Us <= before.latency.p99Us * SAME_P99_RATIO
  const complete = lost === 0 && without.closed === 0 && Object.keys(without.dropped).length === 0
  const name = `Wheelhouse, binary, ${rate.pairs} pairs at ${rate.hz} Hz`
  const row = (when: string, report: RecorderReport): Row => ({
    what: `${name}: ${when}`,
    measured: latencies(report.latency),
  })
  return [
    row('before an outage', before),
    {
      ...row('while PostgreSQL and Redis are paused', without),
      measured: `${latencies(without.latency)}; ${missing({ lost, report: without })}`,
      goal: `p50 ≤ +${SAME_P50_US} µs, p99 ≤ × ${SAME_P99_RATIO}, none lost`,
      met: same && complete,
    },
    row('after they have resumed', after),
  ]
}

function stallRows(stalls: readonly Stall[]): Row[] {
  const afterMs = stalls.flatMap((stall) => stall.afterMs ?? [])
  const once = stalls.filter(({ stops, reasons }) => stops === 1 && reasons[0] === 'deadman').length
  const worstMs = Math.max(...afterMs)
  const shares = [0.5, 0.99].map((share) => figure(percentile(afterMs, share)))
  const inTime = worstMs <= MOST_SILENCE_MS && Math.min(...afterMs) >= DEADMAN_MS
  const otherwise = stalls.filter(({ stops, reasons }) => stops !== 1 || reasons[0] !== 'deadman')
  const notified = otherwise.slice(0, 3).map(({ reasons }) => `[${reasons.join(', ')}]`)
  return [
    {
      what: 'operator silent: its last control frame → stop at the robot, p50 / p99 / max',
      measured: `${[...shares, figure(worstMs)].join(' / ')} ms`,
      goal: `≤ ${MOST_SILENCE_MS} ms, never early`,
      met: afterMs.length === stalls.length && inTime,
    },
    {
      what: '— exactly one stop',
      measured: [`${once} of ${stalls.length}`, ...notified].join(', '),
      goal: 'all',
      met: once === stalls.length,
    },
  ]
}

/** Measures stops while all pairs drive; operators stop one half, and observers the other. */
async function stopRows(plan: RelayPlan, generator: Generator): Promise<Row[]> {
  const half = plan.stopRequests / 2
  await generator('startSteady', {
    pairs: plan.stopRequests,
    hz: STOP_TEST_HZ,
    form: 'binary',
    mode: 'resting',
  })
  await delay(plan.warmUpMs)
  const byOperators = await generator('stopRequests', 'operator', 0, half, STOP_INTERVAL_MS)
  const byObservers = await generator('stopRequests', 'observer', half, plan.stopRequests, STOP_INTERVAL_MS)
  await generator('stopDriving')
  const transferred = await generator('framesUnderStop')
  const load = `${figure(plan.stopRequests * STOP_TEST_HZ)} control frames a second`
  return [
    stopRow(`stop requested by the operator → robot, under ${load}`, byOperators),
    stopRow(`stop requested by an observer → robot, under ${load}`, byObservers),
    {
      what: '— control frames that reached a robot after its stop',
      measured: figure(transferred),
      goal: '0',
      met: transferred === 0,
    },
  ]
}

function stopRow(what: string, { requested, latency, missed }: StopReport): Row {
  const p99Ms = latency.p99Us / 1_000
  return {
    what: `${what}, p50 / p99 / max`,
    measured: `${[latency.p50Us, latency.p99Us, latency.maxUs].map((us) => figure(us / 1_000)).join(' / ')} ms; ${requested - missed} of ${requested} stopped`,
    goal: `p99 ≤ ${MAX_STOP_MS} ms, all`,
    met: p99Ms <= MAX_STOP_MS && missed === 0,
  }
}
