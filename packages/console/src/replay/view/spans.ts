import type { RecordingGap } from '../../recording/recordings.ts'
import type { StopEntry } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'

/** A period in which the robot could not be driven. */
export interface StateSpan extends TimeRange {
  readonly kind: 'stopped' | 'paused' | 'offline' | 'halted'
  readonly stop: StopEntry['stop']
}

/** Returns the spans in which the robot could not be driven, from the changes of its state. */
export function stateSpans(entries: readonly StopEntry[], endMs: number): StateSpan[] {
  const spans: StateSpan[] = []
  for (const [index, entry] of entries.entries()) {
    const kind = kindOf(entry)
    if (!kind) continue
    const toMs = entries[index + 1]?.atMs ?? endMs
    const last = spans.at(-1)
    if (last && last.kind === kind && last.toMs === entry.atMs && last.stop?.reason === entry.stop?.reason)
      spans[spans.length - 1] = { ...last, toMs }
    else spans.push({ fromMs: entry.atMs, toMs, kind, stop: entry.stop })
  }
  return spans
}

function kindOf({ stop, isConnected, status }: StopEntry): StateSpan['kind'] | undefined {
  if (stop?.latched) return 'stopped'
  if (!isConnected) return 'offline'
  if (status === 'PAUSED') return 'paused'
  return stop ? 'halted' : undefined
}

export interface GapSpan extends TimeRange {
  readonly reason: string
}

/** Returns the gaps in the order of time. One that still lasts ends with the recording. */
export const gapSpans = (gaps: readonly RecordingGap[], endMs: number): GapSpan[] =>
  gaps
    .map(({ from, to, reason }) => ({
      fromMs: Date.parse(from),
      toMs: to === null ? endMs : Date.parse(to),
      reason,
    }))
    .sort((a, b) => a.fromMs - b.fromMs)

/** Returns the span at a time, or within a distance of it; the nearest one. */
export function spanAt<S extends TimeRange>(
  spans: readonly S[],
  atMs: number,
  reachMs: number,
): S | undefined {
  const distance = (span: S) => Math.max(0, span.fromMs - atMs, atMs - span.toMs)
  let nearest: S | undefined
  for (const span of spans)
    if (distance(span) <= reachMs && (!nearest || distance(span) < distance(nearest))) nearest = span
  return nearest
}
