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
interface BatteryTrend {
  /** Adds a report. @param charge 0 to 1 */
  add(charge: number, atMs: number): void
  /** Returns the latest charge; undefined before the first report. */
  read(): BatteryReading | undefined
}

export function createBatteryTrend(): BatteryTrend {
  let reports: Report[] = []
  let newest: Report | undefined
  return {
    add(charge, atMs) {
      newest = { atMs, charge }
      const last = reports.at(-1)
      if (last === undefined || atMs - last.atMs >= REPORT_GAP_MS)
        reports = [...reports, newest].slice(-MAX_REPORTS)
    },
    read() {
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
