import type { Lab } from '../lab.ts'
import type { RelayPlan } from '../options.ts'
import type { Distribution } from '../relay/histogram.ts'
import { PAUSE_MS } from '../relay/pauses.ts'
import type { Form } from '../relay/payload.ts'
import { relayNames } from '../relay/relays.ts'
import type { Row } from '../report.ts'
import { figure, sum } from '../stats.ts'
import { type Carried, FRAMES_PER_WRITE, type Run, type SteadyRun } from './relay-runs.ts'

const MOST_ADDED_US = 30
const MOST_P99_RATIO = 1.5
const LEAST_FLOOD_RATIO: Readonly<Record<Form, number>> = { binary: 0.9, JSON: 0.8 }
/** A generator that paused more often than that has not measured the relay. */
const MOST_DOUBTFUL_SHARE = 0.1
const BYTES_PER_MB = 1_000_000

type Rate = RelayPlan['rates'][number]

const rateName = ({ pairs, hz }: Rate) => `${pairs} pairs at ${hz} Hz`
const share = (part: number) => `${figure(part * 100)} %`

/** Formats the measurements, contender by contender. */
export function measuredRows(plan: RelayPlan, measured: readonly Carried[]): Row[] {
  return [
    ...plan.rates.flatMap((rate) =>
      measured.flatMap((item) => steadyRuns(item, rate).map((run) => steadyRow(item.name, run))),
    ),
    ...measured.flatMap(({ name, floods }) => floods.map((run) => floodRow(name, run))),
    ...measured.map(({ name, rssBytes }) => ({
      what: `memory with ${Math.max(...plan.rates.map(({ pairs }) => pairs))} pairs: ${name}`,
      measured:
        rssBytes === undefined ? 'not reported by this system' : `${figure(rssBytes / BYTES_PER_MB)} MB`,
    })),
  ]
}

/** Formats latencies in microseconds. */
export const latencies = ({ p50Us, p90Us, p99Us, p999Us, maxUs }: Distribution) =>
  `${[p50Us, p90Us, p99Us, p999Us, maxUs].map(figure).join(' / ')} µs`

const steadyRow = (name: string, run: SteadyRun): Row => ({
  what: `${rateName(run)}: ${name}, ${run.form}`,
  measured: [latencies(run.report.latency), perSecond(run), cpuEach(run), missing(run), leftOut(run)].join(
    '; ',
  ),
})

const leftOut = (run: Run) =>
  `${share(doubtfulShare(run))} excluded; p99 including them ${figure(run.report.everything.p99Us)}`

const floodRow = (name: string, run: Run): Row => ({
  what: `flat out: ${name}, ${run.form}`,
  measured: [perSecond(run), cpuEach(run), cores(run), missing(run)].join('; '),
})

const framesPerSecond = ({ report }: Run) => (report.delivered / report.tookMs) * 1_000
const perSecond = (run: Run) => `${figure(framesPerSecond(run))}/s`
const cpuEach = ({ cpuUsPerFrame }: Run) =>
  cpuUsPerFrame === undefined ? 'CPU unknown' : `${figure(cpuUsPerFrame)} µs CPU`
const cores = ({ relayCpu, generatorCpu }: Run) =>
  `relay ${relayCpu === undefined ? '?' : share(relayCpu)}, generator ${share(generatorCpu)} of a core`

/** Formats missing, duplicated and refused frames. */
export function missing({ lost, report }: Pick<Run, 'lost' | 'report'>): string {
  const dropped = Object.entries(report.dropped).map(([why, count]) => `${figure(count)} dropped (${why})`)
  const strange = report.strange > 0 ? [`${figure(report.strange)} twice`] : []
  const closed =
    report.closed > 0 ? [`${report.closed} connections lost (${report.closings.join(', ')})`] : []
  return [`${figure(lost)} lost`, ...dropped, ...strange, ...closed].join(', ')
}

const steadyRuns = ({ steady }: Carried, { pairs, hz }: Rate) =>
  steady.filter((run) => run.pairs === pairs && run.hz === hz)

/** Compares Wheelhouse with bare uWebSockets.js, which carries the same bytes: the mean of the runs before and after. */
export function judgedRows(plan: RelayPlan, measured: readonly Carried[]): Row[] {
  const bare = measured.filter(({ name }) => name === relayNames.bare || name === relayNames.bareAgain)
  const ours = measured.filter(
    ({ name }) => name === relayNames.wheelhouse || name === relayNames.wheelhouseRealTime,
  )
  return ours.flatMap((wheelhouse) => judged(plan, bare, wheelhouse))
}

function judged(plan: RelayPlan, bare: readonly Carried[], ours: Carried): Row[] {
  return (['binary', 'JSON'] as const).flatMap((form) => {
    const ofForm = <R extends Run>(runs: readonly R[]) => runs.filter((run) => run.form === form)
    return [
      ...plan.rates.flatMap((rate) => {
        const runs = (of: readonly Carried[]) => ofForm(of.flatMap((item) => steadyRuns(item, rate)))
        return addedRows(`${ours.name}, ${form}, ${rateName(rate)}`, runs(bare), runs([ours]))
      }),
      floodRatioRow(
        `${ours.name}, ${form}`,
        form,
        ofForm(bare.flatMap((item) => item.floods)),
        ofForm(ours.floods),
      ),
    ]
  })
}

const mean = <T>(of: readonly T[], value: (item: T) => number) => sum(of.map(value)) / of.length

function addedRows(name: string, bare: readonly SteadyRun[], ours: readonly SteadyRun[]): Row[] {
  const p50Us = ({ report }: Run) => report.latency.p50Us
  const p99Us = ({ report }: Run) => report.latency.p99Us
  const addedUs = mean(ours, p50Us) - mean(bare, p50Us)
  const ratio = mean(ours, p99Us) / mean(bare, p99Us)
  const reliable = [...bare, ...ours].every((run) => doubtfulShare(run) <= MOST_DOUBTFUL_SHARE)
  return [
    {
      what: `— ${name}, next to bare uWebSockets.js: p50`,
      measured: `${addedUs < 0 ? '−' : '+'}${figure(Math.abs(addedUs))} µs`,
      ...(reliable && { goal: `≤ +${MOST_ADDED_US} µs`, met: addedUs <= MOST_ADDED_US }),
    },
    {
      what: `— ${name}, next to bare uWebSockets.js: p99`,
      measured: `× ${figure(ratio)}`,
      ...(reliable && { goal: `≤ × ${MOST_P99_RATIO}`, met: ratio <= MOST_P99_RATIO }),
    },
  ]
}

function floodRatioRow(name: string, form: Form, bare: readonly Run[], ours: readonly Run[]): Row {
  const ratio = mean(ours, framesPerSecond) / mean(bare, framesPerSecond)
  const cpu = (run: Run) => run.cpuUsPerFrame ?? Number.NaN
  return {
    what: `— ${name} / bare uWebSockets.js, flat out`,
    measured: `${figure(ratio)}; CPU of a frame × ${figure(mean(ours, cpu) / mean(bare, cpu))}`,
    goal: `≥ ${LEAST_FLOOD_RATIO[form]}`,
    met: ratio >= LEAST_FLOOD_RATIO[form],
  }
}

const doubtfulShare = ({ report }: Run) => report.doubtful / Math.max(1, report.delivered)

/** Describes the method, and how much the generator disturbed it. */
export function notes(lab: Lab, plan: RelayPlan, measured: readonly Carried[]): string[] {
  const runs = measured.flatMap(({ steady }) => steady)
  const sent = sum(runs.map(({ report }) => report.sent))
  const late = sum(runs.map(({ report }) => report.sentLate))
  const doubtful = Math.max(...runs.map(doubtfulShare))
  const pauseUs = Math.max(...runs.map(({ report }) => report.pauses.maxUs).filter(Number.isFinite))
  const corrupted = runs.some((run) => doubtfulShare(run) > MOST_DOUBTFUL_SHARE)
  return [
    'Latency: p50 / p90 / p99 / p99.9 / max of one way, from the write at the operator’s socket to the read at the robot’s. ' +
      'One process has both ends of every pair, so one clock measures; it spins, and implements every protocol over bare TCP sockets. ' +
      'Every robot acknowledges every frame, and the relay returns that.',
    'Binary: 16 bytes of header and 64 of payload, opaque to all but Wheelhouse. JSON: the same 64 bytes as JSON in a control frame; ' +
      'Wheelhouse and Socket.IO parse and serialize it, the others forward it. Frames are due at fixed times, evenly spread over the pairs; ' +
      `${plan.steadySeconds} s after ${plan.warmUpMs / 1_000} s for warm-up.`,
    `Flat out: ${plan.floodPairs} pairs; each sends ${FRAMES_PER_WRITE} frames in one write, and the next write when all are answered; ${plan.floodSeconds} s. ` +
      'A relay that used less than a whole core was not the limit there. nats-server batches its writes; the others write every frame separately.',
    "CPU is that of the relay's process per frame delivered, its acknowledgement included, without PostgreSQL, Redis and the generator. " +
      'Wheelhouse’s robots also send a heartbeat a second, and every connection is pinged once a second.' +
      (lab.redisUrl ? '' : ' Without redis-server the gateway shares its process with all other roles.'),
    `The generator sent ${figure(late)} of ${figure(sent)} frames late; latency counts from the real write. Frames that were in flight while it was ` +
      `paused for over ${PAUSE_MS} ms are excluded from the latencies: at most ${share(doubtful)} of a run; its longest pause was ${figure(pauseUs / 1_000)} ms.`,
    ...(corrupted ? [`Runs with more than ${share(MOST_DOUBTFUL_SHARE)} excluded are not judged.`] : []),
  ]
}
