import type { Verdict } from './checks/index.ts'
import { type Evidence, GAP_MS, type Gap } from './evidence.ts'
import type { InjectedFault } from './faults.ts'
import type { Memory } from './process-watch.ts'

const MAX_SHOWN_VIOLATIONS = 20
/** A gap that begins this long after the end of a fault is not attributed to it. */
const RECOVERY_WINDOW_MS = 3_000

/**
 * Returns how long control took to resume after the faults that interrupted it, in milliseconds, by the fault's name. A
 * gap is attributed to the newest fault that had begun; only the first gap of each robot counts.
 */
export function recoveries(faults: readonly InjectedFault[], gaps: readonly Gap[]): Map<string, number[]> {
  const charged = new Map<InjectedFault, Map<string, number>>()
  for (const { robotId, fromMs, toMs } of gaps) {
    // The gap begins with the last control frame before the fault.
    const begun = faults.filter(
      ({ atMs, overMs }) => atMs <= fromMs + GAP_MS && atMs < toMs && fromMs <= overMs + RECOVERY_WINDOW_MS,
    )
    const [fault] = begun.toSorted((a, b) => b.atMs - a.atMs)
    if (!fault) continue
    const times = charged.get(fault) ?? new Map<string, number>()
    charged.set(fault, times)
    if (!times.has(robotId)) times.set(robotId, toMs - fault.atMs)
  }
  const byName = new Map<string, number[]>()
  for (const [{ name }, times] of charged) byName.set(name, [...(byName.get(name) ?? []), ...times.values()])
  return byName
}

/** Returns the value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? []
  return rows.map((row) =>
    `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`.trimEnd(),
  )
}

/** Formats the faults, and how long each interrupted control. */
export function describeFaults(faults: readonly InjectedFault[], gaps: readonly Gap[]): string[] {
  const counts = Map.groupBy(faults, ({ name }) => name)
  const times = recoveries(faults, gaps)
  const rows = [...counts]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, all]) => {
      const found = times.get(name) ?? []
      const [half, most] = [percentile(found, 0.5), percentile(found, 1)]
      const recovery =
        found.length === 0 ? ['0', '–', '–'] : [String(found.length), seconds(half), seconds(most)]
      return [name, String(all.length), ...recovery]
    })
  const overall = [...times.values()].flat()
  const head = ['fault', 'times', 'interruptions', 'control resumed after p50', 'max']
  const total =
    overall.length === 0
      ? []
      : [
          [
            'all',
            String(faults.length),
            String(overall.length),
            seconds(percentile(overall, 0.5)),
            seconds(percentile(overall, 1)),
          ],
        ]
  return table([head, ...rows, ...total])
}

/** Formats the actions of the actors, and their outcomes. */
export function describeActions({ actions }: Pick<Evidence, 'actions'>): string[] {
  const rows = [...actions]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([performAction, { acknowledged, refused, unknown }]) => [
      performAction,
      ...[acknowledged, refused, unknown].map(String),
    ])
  return table([['action', 'acknowledged', 'refused', 'unknown'], ...rows])
}

/** Formats what the check of recordings has compared. */
export function describeRecordings({ recordings: figures }: Pick<Evidence, 'recordings'>): string[] {
  const { recordings, segments, messages, commands, missing, gaps } = figures
  const reasons = [...gaps].map(([reason, count]) => `${count} × ${reason}`).join(', ')
  return [
    `  ${recordings} finished, with ${segments} acknowledged segments of ${messages} messages`,
    `  ${commands} commands reached robots; ${missing} of them are in gaps of the recordings (${reasons || 'no gaps'})`,
  ]
}

export function describeMemory(memory: readonly Memory[]): string[] {
  const megabytes = (value: number) => `${Math.round(value)} MB`
  const rows = memory.map(({ name, early, most, last }) => [name, ...[early, most, last].map(megabytes)])
  return table([['process', 'after the start', 'most', 'at the end'], ...rows])
}

/** Formats each invariant with its violations. */
export function describeVerdicts(verdicts: readonly Verdict[]): string[] {
  return verdicts.flatMap(({ name, wrong }) => {
    if (wrong.length === 0) return [`  holds     ${name}`]
    const shown = wrong.slice(0, MAX_SHOWN_VIOLATIONS).map((item) => `              ${item}`)
    const rest =
      wrong.length > MAX_SHOWN_VIOLATIONS
        ? [`              and ${wrong.length - MAX_SHOWN_VIOLATIONS} more`]
        : []
    return [`  VIOLATED  ${name}`, ...shown, ...rest]
  })
}
