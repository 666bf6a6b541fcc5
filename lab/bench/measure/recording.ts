import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { McapIndexedReader } from '@mcap/core'
import type { Probe } from '../../../test/support/processes/probe.ts'
import { callerOf } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { Plan, RecordingPlan } from '../options.ts'
import { startWheelhouseRelay, type WheelhouseRelay } from '../relay/wheelhouse.ts'
import type { Row, Section } from '../report.ts'
import { figure, median, percentile } from '../stats.ts'
import { startRecorder } from '../targets.ts'
import { type Generator, withGenerator } from './relay-runs.ts'

const CONTROL_HZ = 50
const TELEMETRY_HZ = 30
const GOALS = { relayRatio: 1.1, cores: 1 }
/** A segment ends after ten seconds, and is stored. */
const SEALED_MS = 13_000
const POLL_INTERVAL_MS = 100
const STREAMS_LIMIT_MS = 30_000
const COUNTED_TOPICS = ['/control', '/control/dropped', '/telemetry']

interface Latency {
  readonly p50Us: number
  readonly p99Us: number
}

/** The cost of the recorder for all sessions. */
interface Load {
  readonly cores: number
  readonly gatewayCores: readonly [off: number, on: number]
  readonly recordsPerSecond: number
  readonly sent: number
  readonly recorded: number
  readonly gaps: number
  /** From the last record of a segment to its row in the database, in milliseconds. */
  readonly storedAfterMs: readonly number[]
}

/** Measures what recording costs the control relay, and what it costs the recorder. */
export async function measureRecording(lab: Lab, { recording: plan }: Plan): Promise<Section> {
  const recorder = await startRecorder(lab)
  try {
    const [rounds, load] = await withRelay(lab, plan, false, async (relay, generator) => [
      await relayRounds(lab, plan, relay, generator),
      await recorderLoad({ lab, plan, relay, generator, usage: recorder.probe }),
    ])
    const realTime = await withRelay(lab, plan, true, (relay, generator) =>
      relayRounds(lab, plan, relay, generator),
    )
    return {
      title: 'Recording',
      rows: [
        ...relayRows('control relay', rounds),
        ...relayRows('the same with GATEWAY_REALTIME', realTime),
        ...loadRows(plan, load),
      ],
      notes: [
        `Control relay: ${plan.pairs} pairs at ${CONTROL_HZ} Hz, JSON, ${plan.seconds} s each without and with recording, by turns, ${plan.rounds} times; the medians. The recorder is a process, on the same machine.`,
        `Load: the same control, and telemetry at ${TELEMETRY_HZ} Hz from every robot, for ${plan.loadSeconds} s, to the local disk. Cores: processor time of all threads of the process, with its database work.`,
        'Lost: control and telemetry frames that were sent, and are in no stored segment.',
      ],
    }
  } finally {
    await recorder.stop()
  }
}

/** Starts a gateway with connected pairs for `work`. */
async function withRelay<T>(
  lab: Lab,
  { pairs }: RecordingPlan,
  realTime: boolean,
  work: (relay: WheelhouseRelay, generator: Generator) => Promise<T>,
): Promise<T> {
  const relay = await startWheelhouseRelay(lab, pairs, { realTime })
  try {
    return await withGenerator(lab, async ({ generator }) => {
      await relay.connect(generator, 0, pairs)
      return await work(relay, generator)
    })
  } finally {
    await relay.stop()
    await relay.cleanUp()
  }
}

async function relayRounds(lab: Lab, plan: RecordingPlan, relay: WheelhouseRelay, generator: Generator) {
  const [off, on]: [Latency[], Latency[]] = [[], []]
  const measure = async (): Promise<Latency> => {
    const steady = { pairs: plan.pairs, hz: CONTROL_HZ, form: 'JSON', mode: 'spinning' } as const
    await generator('startSteady', steady)
    await delay(plan.warmUpMs)
    await generator('mark')
    await delay(plan.seconds * 1_000)
    const { latency } = await generator('report')
    await generator('stopDriving')
    return latency
  }
  for (let round = 0; round < plan.rounds; round++) {
    // The order changes, so that what follows a switch affects both.
    for (const mode of round % 2 === 0 ? (['off', 'control'] as const) : (['control', 'off'] as const)) {
      await switchRecording(lab, plan, relay, mode)
      const runs = mode === 'off' ? off : on
      runs.push(await measure())
    }
  }
  return { off, on }
}

/** Changes the setting of all robots, and waits until it is in effect. */
async function switchRecording(
  lab: Lab,
  { pairs }: RecordingPlan,
  relay: WheelhouseRelay,
  mode: 'off' | 'control',
): Promise<void> {
  await relay.setRecording(mode)
  const expected = mode === 'off' ? 0 : pairs
  const untilMs = performance.now() + STREAMS_LIMIT_MS
  for (;;) {
    const { rows } = await lab.db.query(
      'select count(*)::int as open from recording_streams where closed_at is null',
    )
    if (rows[0].open === expected) return
    if (performance.now() > untilMs) throw new Error(`${rows[0].open} of ${expected} sessions are recorded.`)
    await delay(POLL_INTERVAL_MS)
  }
}

async function recorderLoad(parts: {
  lab: Lab
  plan: RecordingPlan
  relay: WheelhouseRelay
  generator: Generator
  usage: ReturnType<typeof callerOf<Probe>>
}): Promise<Load> {
  const { lab, plan, relay, generator, usage } = parts
  const gateway = callerOf<Probe>(relay.child.process)
  const drive = async (seconds: number) => {
    const steady = { pairs: plan.pairs, hz: CONTROL_HZ, form: 'JSON', mode: 'resting' } as const
    await generator('startSteady', steady)
    await generator('startTelemetry', TELEMETRY_HZ)
    await delay(plan.warmUpMs)
    const before = await Promise.all([usage('usage'), gateway('usage')])
    await delay(seconds * 1_000)
    const after = await Promise.all([usage('usage'), gateway('usage')])
    const telemetry = await generator('stopTelemetry')
    await generator('stopDriving')
    const { sent } = await generator('report')
    const cores = after.map(({ cpuUs, atMs }, index) => {
      const start = before[index] as (typeof before)[number]
      return (cpuUs - start.cpuUs) / ((atMs - start.atMs) * 1_000)
    }) as [number, number]
    return { cores, sent: sent + telemetry }
  }
  await switchRecording(lab, plan, relay, 'off')
  const without = await drive(plan.seconds)
  await delay(SEALED_MS)
  const earlier = await countRecorded(lab)
  await lab.db.query('delete from recording_gaps')
  await switchRecording(lab, plan, relay, 'control')
  const { rows: times } = await lab.db.query('select now() as now')
  const run = await drive(plan.loadSeconds)
  await delay(SEALED_MS)
  const recorded = (await countRecorded(lab)) - earlier
  const { rows: gaps } = await lab.db.query('select count(*)::int as count from recording_gaps')
  const { rows: stored } = await lab.db.query(
    `select extract(epoch from created_at) * 1000 - last_ms as ms from recording_segments where created_at >= $1`,
    [times[0].now],
  )
  return {
    cores: run.cores[0],
    gatewayCores: [without.cores[1], run.cores[1]],
    recordsPerSecond: recorded / (plan.loadSeconds + plan.warmUpMs / 1_000),
    sent: run.sent,
    recorded,
    gaps: gaps[0].count,
    storedAfterMs: stored.map(({ ms }) => Number(ms)),
  }
}

/** Returns the number of control and telemetry frames in all stored segments. */
async function countRecorded(lab: Lab): Promise<number> {
  const directory = join(lab.dataDir, 'wheelhouse', 'objects', 'recordings')
  const files = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  let count = 0
  for (const file of files)
    if (file.isFile()) count += await messagesOf(await readFile(join(file.parentPath, file.name)))
  return count
}

async function messagesOf(bytes: Uint8Array): Promise<number> {
  const reader = await McapIndexedReader.Initialize({
    readable: {
      size: async () => BigInt(bytes.length),
      read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
    },
  })
  let count = 0
  for (const { id, topic } of reader.channelsById.values())
    if (COUNTED_TOPICS.includes(topic)) count += Number(reader.statistics?.channelMessageCounts.get(id) ?? 0n)
  return count
}

function relayRows(what: string, { off, on }: { off: readonly Latency[]; on: readonly Latency[] }): Row[] {
  return (['p50Us', 'p99Us'] as const).map((share) => {
    const of = (runs: readonly Latency[]) => median(runs.map((run) => run[share]))
    const ratio = of(on) / of(off)
    return {
      what: `${what}, ${share.slice(0, 3)}: without / with recording`,
      measured: `${figure(of(off))} / ${figure(of(on))} µs, × ${figure(ratio)}`,
      goal: `≤ × ${GOALS.relayRatio}`,
      met: ratio <= GOALS.relayRatio,
    }
  })
}

function loadRows({ pairs }: RecordingPlan, load: Load): Row[] {
  const { cores, gatewayCores, recordsPerSecond, sent, recorded, gaps, storedAfterMs } = load
  const lost = sent - recorded
  return [
    {
      what: `recorder, ${pairs} sessions with control at ${CONTROL_HZ} Hz and telemetry at ${TELEMETRY_HZ} Hz: cores`,
      measured: `${figure(cores)}, ${figure((cores / recordsPerSecond) * 1e6)} µs a record`,
      goal: `≤ ${GOALS.cores}`,
      met: cores <= GOALS.cores,
    },
    { what: 'records a second', measured: figure(recordsPerSecond) },
    {
      what: 'lost records / gaps',
      measured: `${figure(lost)} of ${figure(sent)} / ${gaps}`,
      goal: '0 / 0',
      met: lost === 0 && gaps === 0,
    },
    {
      what: 'segment durable after its last record, p50 / worst',
      measured: `${figure(percentile(storedAfterMs, 0.5))} / ${figure(Math.max(...storedAfterMs))} ms`,
    },
    {
      what: 'gateway, the same load: cores without / with recording',
      measured: `${figure(gatewayCores[0])} / ${figure(gatewayCores[1])}`,
    },
  ]
}
