import type { DriveLatency, DropReason } from '@wheelhouse/protocol'

const SAMPLES = 256

/** The newest value and the 95th percentile of recent values. */
export interface LatencySample {
  readonly lastMs: number | undefined
  readonly p95Ms: number | undefined
}

/** Why the gateway holds commands although they arrive in time and order. */
const HELD: ReadonlySet<DropReason> = new Set([
  'session_paused',
  'stopped',
  'latency',
  'video_stale',
  'invalid',
])

/** Round trips of which the middle one is the delay of commands. */
const DELAY_SAMPLES = 15

/** Measures the latency while driving. Written on every frame, read a few times per second. */
export function createLatencyStats() {
  const [command, operator, robot] = [createSampleRing(), createSampleRing(), createSampleRing()]
  let dropped = 0
  let held = 0
  let lastDrop: DropReason | undefined
  return {
    acknowledged: (roundTripMs: number | null) => command.add(roundTripMs),
    latency({ operator_ms, robot_ms }: DriveLatency): void {
      operator.add(operator_ms)
      robot.add(robot_ms)
    },
    dropped(reason: DropReason): void {
      if (HELD.has(reason)) held += 1
      else dropped += 1
      lastDrop = reason
    },
    /** Returns the usual round trip of recent commands, or of both links without acknowledgements; undefined while unknown. */
    commandDelayMs(): number | undefined {
      const links = [operator.medianMs(1), robot.medianMs(1)]
      const linksMs = links.every((ms) => ms !== undefined)
        ? links.reduce((sum, ms) => sum + ms, 0)
        : undefined
      return command.medianMs(DELAY_SAMPLES) ?? linksMs
    },
    read: () => ({
      /** From sending a command to the acknowledgement of the robot. */
      command: command.read(),
      /** Round trip between this page and the gateway. */
      operator: operator.read(),
      /** Round trip between the gateway and the robot. */
      robot: robot.read(),
      /** Commands that the gateway held on purpose. */
      held,
      /** Commands that did not reach the robot for another reason. */
      dropped,
      lastDrop,
    }),
  }
}

function createSampleRing() {
  const values: number[] = []
  let at = 0
  let lastMs: number | undefined
  return {
    add(ms: number | null): void {
      if (ms === null) return
      lastMs = ms
      values[at++ % SAMPLES] = ms
    },
    medianMs(count: number): number | undefined {
      const newest = Array.from(
        { length: Math.min(count, at) },
        (_, age) => values[(at - 1 - age) % SAMPLES] ?? 0,
      )
      return newest.sort((a, b) => a - b)[newest.length >> 1]
    },
    read(): LatencySample {
      const sorted = values.toSorted((a, b) => a - b)
      return { lastMs, p95Ms: sorted[Math.ceil(sorted.length * 0.95) - 1] }
    },
  }
}

/** Reports that the trend covers, one a minute at most. */
const MAX_REPORTS = 60
const REPORT_GAP_MS = 60_000
/** A shorter time gives no trend, because batteries report in steps. */
const MIN_SPAN_MS = 120_000
const LOW = 0.3
const CRITICAL = 0.15
const MS_PER_MINUTE = 60_000

interface Report {
  readonly atMs: number
  readonly charge: number
}

/** The charge of a battery, and what will become of it. */
export interface BatteryReading {
  /** 0 to 1. */
  readonly charge: number
  readonly level: 'good' | 'low' | 'critical'
  readonly trend: 'charging' | 'draining' | 'level' | 'unknown'
  /** Until the battery is empty at the present rate; undefined unless it drains. */
  readonly minutesLeft: number | undefined
}

/** Follows the charge of a battery. */
export function createBatteryTrend() {
  let reports: Report[] = []
  let newest: Report | undefined
  return {
    /** @param charge 0 to 1 */
    add(charge: number, atMs: number): void {
      newest = { atMs, charge }
      const last = reports.at(-1)
      if (last === undefined || atMs - last.atMs >= REPORT_GAP_MS)
        reports = [...reports, newest].slice(-MAX_REPORTS)
    },
    /** Returns the latest charge; undefined before the first report. */
    read(): BatteryReading | undefined {
      if (newest === undefined) return undefined
      const { charge } = newest
      const level = charge <= CRITICAL ? 'critical' : charge <= LOW ? 'low' : 'good'
      return { charge, level, ...trendOf(reports[0], newest) }
    },
  }
}

function trendOf(first: Report | undefined, last: Report): Pick<BatteryReading, 'trend' | 'minutesLeft'> {
  const spanMs = first ? last.atMs - first.atMs : 0
  if (first === undefined || spanMs < MIN_SPAN_MS) return { trend: 'unknown', minutesLeft: undefined }
  const drained = first.charge - last.charge
  if (drained === 0) return { trend: 'level', minutesLeft: undefined }
  if (drained < 0) return { trend: 'charging', minutesLeft: undefined }
  return { trend: 'draining', minutesLeft: Math.round((last.charge / drained) * (spanMs / MS_PER_MINUTE)) }
}
