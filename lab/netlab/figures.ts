import { percentile } from '../bench/stats.ts'
import type { Span } from './ends/clock.ts'
import type { Halt, RobotReport } from './ends/robot-recorder.ts'

/** A silence begins up to this long before the halt that it causes: the deadman, and the margin of a robot's watchdog. */
const HALT_LOOKBACK_MS = 600
/** An outage that ends less than this before the end of the run shows no recovery. */
const RECOVERY_WINDOW_MS = 1_000

/** Everything that one run of a transport recorded. Times are milliseconds of the monotonic clock. */
export interface Recording {
  readonly pairs: number
  readonly fromMs: number
  readonly toMs: number
  readonly ttlMs: number
  readonly robots: Pick<RobotReport, 'pairs' | 'atMs' | 'agesMs' | 'halts'>
  /** Outages and uploads of the profile. */
  readonly disturbances: readonly Span[]
  /** Times when a process of the lab did not run. */
  readonly pauses: readonly Span[]
}

/** Figures of one transport on one profile. */
export interface Figures {
  /** Age of an executed command: from the operator's call to the robot's. NaN without commands. */
  readonly ageP50Ms: number
  readonly ageP99Ms: number
  readonly ageMaxMs: number
  /** Executed commands a second of one robot; its operator sends fifty. */
  readonly commandsPerS: number
  readonly olderThanTtl: number
  /** Halts of moving robots. No operator ever paused. */
  readonly stops: number
  /** Halts while the link worked. The others are the right answer to an outage, or to an upload that fills the link. */
  readonly falseStops: number
  readonly falseStopsPerTenMinutes: number
  /** Halts that are not counted as false, because a process of the lab did not run at the time. */
  readonly doubtfulStops: number
  readonly stopReasons: Readonly<Record<string, number>>
  /** From the end of an outage or upload to the first command that is executed within its lifetime. */
  readonly recoveryP50Ms: number
  readonly recoveryMaxMs: number
  /** Robots times disturbances without a recovery before the next one. */
  readonly unrecovered: number
  readonly drivenMinutes: number
}

/** Computes the figures of one run. */
export function figuresOf(recording: Recording): Figures {
  const { pairs, fromMs, toMs, ttlMs, robots, pauses } = recording
  const agesMs = [...robots.agesMs]
  const recoveries = recoveriesOf(recording)
  const ended = recoveries.filter(({ disturbance: [, endMs] }) => endMs <= toMs - RECOVERY_WINDOW_MS)
  const recovered = ended.flatMap(({ recoveredMs, disturbance: [, endMs] }) =>
    recoveredMs === undefined ? [] : [recoveredMs - endMs],
  )
  const stops = { disturbed: 0, doubtful: 0, false: 0 }
  for (const halt of robots.halts) stops[kindOf(halt, recoveries, pauses)]++
  const drivenMinutes = ((toMs - fromMs) * pairs) / 60_000
  return {
    ageP50Ms: percentile(agesMs, 0.5),
    ageP99Ms: percentile(agesMs, 0.99),
    ageMaxMs: percentile(agesMs, 1),
    commandsPerS: agesMs.length / pairs / ((toMs - fromMs) / 1_000),
    olderThanTtl: agesMs.filter((ageMs) => ageMs > ttlMs).length,
    stops: robots.halts.length,
    falseStops: stops.false,
    falseStopsPerTenMinutes: (stops.false / drivenMinutes) * 10,
    doubtfulStops: stops.doubtful,
    stopReasons: countsOf(robots.halts.map(({ reason }) => reason)),
    recoveryP50Ms: percentile(recovered, 0.5),
    recoveryMaxMs: percentile(recovered, 1),
    unrecovered: ended.length - recovered.length,
    drivenMinutes,
  }
}

interface Recovery {
  readonly pair: number
  readonly disturbance: Span
  /** Undefined if the robot executed no command within its lifetime before `untilMs`. */
  readonly recoveredMs: number | undefined
  /** The beginning of the next disturbance, or the end of the run. */
  readonly untilMs: number
}

function recoveriesOf({ pairs, toMs, ttlMs, robots, disturbances }: Recording): Recovery[] {
  const freshMs = Array.from({ length: pairs }, (): number[] => [])
  for (const [index, atMs] of robots.atMs.entries()) {
    const pair = robots.pairs[index] as number
    if ((robots.agesMs[index] as number) <= ttlMs) freshMs[pair]?.push(atMs)
  }
  return disturbances.flatMap((disturbance, number) => {
    const untilMs = disturbances[number + 1]?.[0] ?? toMs
    return freshMs.map((timesMs, pair) => {
      const recoveredMs = timesMs.find((atMs) => atMs >= disturbance[1] && atMs < untilMs)
      return { pair, disturbance, recoveredMs, untilMs }
    })
  })
}

/** Decides why a robot halted: a disturbance of the link, perhaps a pause of the lab itself, or neither. */
function kindOf(
  { pair, atMs }: Halt,
  recoveries: readonly Recovery[],
  pauses: readonly Span[],
): 'disturbed' | 'doubtful' | 'false' {
  const disturbed = recoveries.some(
    ({ pair: disturbedPair, disturbance: [fromMs], recoveredMs, untilMs }) =>
      disturbedPair === pair && fromMs <= atMs && atMs - HALT_LOOKBACK_MS <= (recoveredMs ?? untilMs),
  )
  if (disturbed) return 'disturbed'
  const paused = pauses.some(([fromMs, toMs]) => fromMs <= atMs && toMs >= atMs - HALT_LOOKBACK_MS)
  return paused ? 'doubtful' : 'false'
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
