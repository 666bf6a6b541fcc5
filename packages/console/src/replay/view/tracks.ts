import type { Bookmark, RecordedEpisode, RecordingGap } from '../../recording/recordings.ts'
import { t } from '../../texts/texts.ts'
import type { Overview, StopEntry } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { LogEntry } from './log-entries.ts'

export interface EpisodeSpan extends TimeRange {
  readonly episode: RecordedEpisode
}

export interface Mark extends TimeRange {
  readonly bookmark: Bookmark
}

/** The contents of the tracks of the time axis. */
export interface Tracks {
  readonly episodes: readonly EpisodeSpan[]
  readonly states: readonly StateSpan[]
  readonly gaps: readonly GapSpan[]
  readonly entries: readonly LogEntry[]
  readonly marks: readonly Mark[]
  readonly overview: Overview | undefined
}

/** The tracks from top to bottom, with their heights in pixels. */
export const TRACK_HEIGHTS = { ruler: 24, episodes: 20, state: 16, commands: 20, marks: 20 } as const
export type TrackName = keyof typeof TRACK_HEIGHTS

export const TRACKS_HEIGHT: number = Object.values(TRACK_HEIGHTS).reduce((sum, height) => sum + height, 0)

/** Returns the track at a height, and its upper edge. */
export function trackAt(y: number): TrackName | undefined {
  let top = 0
  for (const [name, height] of Object.entries(TRACK_HEIGHTS)) {
    if (y >= top && y < top + height) return name as TrackName
    top += height
  }
  return undefined
}

/** Space on the left for the names of tracks and the numbers of axes, and on the right for the last label. */
export const GUTTER_PX = 72
export const END_PX = 14

/** Converts between times and places on an axis of a width. */
export function axisOf({ fromMs, toMs }: TimeRange, widthPx: number) {
  const inner = Math.max(1, widthPx - GUTTER_PX - END_PX)
  return {
    xOf: (atMs: number) => GUTTER_PX + ((atMs - fromMs) / (toMs - fromMs)) * inner,
    timeAt: (x: number) => fromMs + ((x - GUTTER_PX) / inner) * (toMs - fromMs),
    msPerPx: (toMs - fromMs) / inner,
    left: GUTTER_PX,
    right: GUTTER_PX + inner,
  }
}
export type Axis = ReturnType<typeof axisOf>

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

/** Returns the result of an episode in a word or two. */
export function episodeResult({ success, ended_at }: Pick<RecordedEpisode, 'success' | 'ended_at'>): string {
  if (ended_at === null) return t('replay.marks.running')
  if (success === null) return t('replay.marks.noResult')
  return success ? t('replay.marks.success') : t('replay.marks.failure')
}

/** The names of the states on the track. */
export const stateTexts: Readonly<Record<StateSpan['kind'], string>> = {
  stopped: t('replay.state.stopped'),
  paused: t('replay.state.paused'),
  offline: t('replay.state.offline'),
  halted: t('replay.state.halted'),
}
