import type { SessionLogEvent } from '@wheelhouse/protocol'
import { labelInSentence } from '../../base/format.ts'
import { DELAYED_MS } from '../../freshness/freshness.ts'
import type { Bookmark, RecordedEpisode, RecordingGap } from '../../recording/recordings.ts'
import { eventShape, eventText, type SessionParticipants } from '../../session/event-texts.ts'
import type { ShapeName } from '../../status/shape-name.ts'
import { reasonText, robotStateTexts } from '../../texts/code-texts.ts'
import { percent } from '../../texts/percent.ts'
import { t } from '../../texts/texts.ts'
import type { EventEntry, Overview, StopEntry } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'

export interface EpisodeSpan extends TimeRange {
  readonly episode: RecordedEpisode
  /** The line of the track, from 0: episodes at the same time lie below each other. */
  readonly lane: number
}

export interface Mark {
  readonly atMs: number
  readonly bookmark: Bookmark
}

export interface LogEntry {
  readonly atMs: number
  readonly seq: number
  readonly shape: ShapeName
  readonly text: string
  readonly sender: string | undefined
}

export interface Tracks {
  readonly episodes: readonly EpisodeSpan[]
  readonly states: readonly StateSpan[]
  readonly links: readonly LinkSpan[]
  readonly gaps: readonly GapSpan[]
  readonly entries: readonly LogEntry[]
  readonly marks: readonly Mark[]
  readonly overview: Overview | undefined
}

export type TrackName = 'ruler' | 'episodes' | 'state' | 'link' | 'marks'
const RULER_PX = 26
export const LANE_PX = 24
/** More episodes at the same time share the last line. */
const MAX_LANES = 4

/** Returns the tracks from top to bottom, with their places in pixels. */
export function layoutOf({ episodes }: Pick<Tracks, 'episodes'>) {
  const lanes = Math.max(1, ...episodes.map(({ lane }) => lane + 1))
  const heights = [
    ['ruler', RULER_PX],
    ['episodes', lanes * LANE_PX],
    ['state', LANE_PX],
    ['link', LANE_PX],
    ['marks', LANE_PX],
  ] as const
  let bottom = 0
  return heights.map(([name, height]) => {
    bottom += height
    return { name, height, top: bottom - height, bottom }
  })
}

export const trackAt = (y: number, tracks: Tracks): TrackName | undefined =>
  layoutOf(tracks).find(({ top, bottom }) => y >= top && y < bottom)?.name

/** Below this width the names of tracks have less space. */
const NARROW_PX = 640
export const END_PX = 44

/** Converts between times and places on an axis of a width. */
export function axisOf({ fromMs, toMs }: TimeRange, widthPx: number) {
  // The space for the names of tracks and plots, as in the style sheet.
  const left = widthPx < NARROW_PX ? 84 : 112
  const inner = Math.max(1, widthPx - left - END_PX)
  return {
    xOf: (atMs: number) => left + ((atMs - fromMs) / (toMs - fromMs)) * inner,
    timeAt: (x: number) => fromMs + ((x - left) / inner) * (toMs - fromMs),
    msPerPx: (toMs - fromMs) / inner,
    left,
    right: left + inner,
  }
}
export type Axis = ReturnType<typeof axisOf>

/** Places episodes in as few lines as possible, so that none covers another. */
export function episodeSpans(episodes: readonly RecordedEpisode[], endMs: number): EpisodeSpan[] {
  const ends: number[] = []
  return episodes
    .map((episode) => ({
      episode,
      fromMs: Date.parse(episode.started_at),
      toMs: episode.ended_at === null ? endMs : Date.parse(episode.ended_at),
    }))
    .sort((a, b) => a.fromMs - b.fromMs)
    .map((span) => {
      const free = ends.findIndex((end) => end <= span.fromMs)
      const lane = Math.min(MAX_LANES - 1, free < 0 ? ends.length : free)
      ends[lane] = span.toMs
      return { ...span, lane }
    })
}

export interface StateSpan extends TimeRange {
  readonly kind: 'driving' | 'stopped' | 'paused' | 'lost' | 'halted'
  readonly stop: StopEntry['stop']
}

/** Returns the states of a recording. Only changes are recorded: before the first one it was driven if commands passed. */
export function statesOf({ stops, passed, originMs, widthMs }: Overview, endMs: number): StateSpan[] {
  const first = passed.findIndex((count) => count > 0)
  const drivenMs = first < 0 ? Number.POSITIVE_INFINITY : originMs + first * widthMs
  const isDrivenBefore = drivenMs < (stops[0]?.atMs ?? endMs)
  const driven: StopEntry = { atMs: drivenMs, status: 'ACTIVE', isConnected: true, stop: null }
  return stateSpans(isDrivenBefore ? [driven, ...stops] : stops, endMs)
}

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
  if (status !== 'PAUSED' && status !== 'ACTIVE') return undefined
  if (!isConnected) return 'lost'
  if (status === 'PAUSED') return 'paused'
  return stop ? 'halted' : 'driving'
}

/** A period in which the connection was as good. */
export interface LinkSpan extends TimeRange {
  readonly kind: 'live' | 'delayed' | 'limited'
  /** The longest round trip of operator or robot in it, in milliseconds. */
  readonly worstMs: number
  readonly scale: number
}

/** Without a measurement for this long nothing is known of the connection. */
const SILENCE_MS = 5_000

/** Returns how good the connections of operator and robot were: where commands took long, and where that limited the speed. */
export function linkSpans({ originMs, widthMs, series, passed }: Overview, endMs: number): LinkSpan[] {
  const highest = (key: string, index: number) => {
    const values = series.get(key)
    return Math.max(values?.[2 * index] ?? Number.NaN, values?.[2 * index + 1] ?? Number.NaN)
  }
  const spans: LinkSpan[] = []
  let [worstMs, measuredMs, scale] = [0, Number.NEGATIVE_INFINITY, 1]
  for (let index = 0; index < passed.length; index++) {
    const fromMs = originMs + index * widthMs
    if (fromMs >= endMs) break
    const measured = ['latency:operator_ms', 'latency:robot_ms']
      .map((key) => highest(key, index))
      .filter((ms) => !Number.isNaN(ms))
    if (measured.length > 0) [worstMs, measuredMs] = [Math.max(...measured), fromMs]
    const limit = highest('limits:speed_scale', index)
    if (!Number.isNaN(limit)) scale = limit
    if (fromMs - measuredMs > SILENCE_MS) continue
    const kind = worstMs >= DELAYED_MS ? 'delayed' : scale < 1 ? 'limited' : 'live'
    const toMs = Math.min(endMs, fromMs + widthMs)
    const last = spans.at(-1)
    if (last?.kind === kind && last.toMs >= fromMs - 1)
      spans[spans.length - 1] = {
        ...last,
        toMs,
        worstMs: Math.max(last.worstMs, worstMs),
        scale: Math.min(last.scale, scale),
      }
    else spans.push({ fromMs, toMs, kind, worstMs, scale })
  }
  return spans
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

/** The end of a stop is its own start for a viewer who jumps there and back within this time. */
const JUMP_MS = 300

/** Returns where the next or the previous stop begins; undefined without one. */
export function stopFrom(states: readonly StateSpan[], atMs: number, direction: 1 | -1): number | undefined {
  const starts = states.filter(({ kind }) => kind === 'stopped').map(({ fromMs }) => fromMs)
  return direction > 0
    ? starts.find((fromMs) => fromMs > atMs + 1)
    : starts.findLast((fromMs) => fromMs < atMs - JUMP_MS)
}

export function episodeResult({ success, ended_at }: Pick<RecordedEpisode, 'success' | 'ended_at'>): string {
  if (ended_at === null) return t('replay.marks.running')
  if (success === null) return t('replay.marks.noResult')
  return success ? t('replay.marks.success') : t('replay.marks.failure')
}

/** Returns what an episode is about: its task. Its id is made by a machine, and says nothing. */
export const episodeName = ({ task, source }: Pick<RecordedEpisode, 'task' | 'source'>): string =>
  task?.trim() || (source === 'robot' ? t('replay.marks.byRobot') : t('replay.marks.noTask'))

export type SpanKind = StateSpan['kind'] | LinkSpan['kind']

export const spanTexts: Readonly<Record<SpanKind, string>> = {
  driving: robotStateTexts.DRIVING,
  stopped: robotStateTexts.STOPPED,
  paused: robotStateTexts.PAUSED,
  lost: robotStateTexts.LOST,
  halted: t('replay.state.halted'),
  live: t('replay.state.live'),
  delayed: t('live.freshness.delayed'),
  limited: t('replay.state.limited'),
}

export function stateText({ kind, stop }: StateSpan): string {
  const [state, reason] = [spanTexts[kind], stop ? reasonText(stop.reason) : '']
  return reason ? t('replay.tip.because', { state, reason }) : state
}

/** Returns how good a connection was, such as `Delayed, up to 610 ms`. */
export function linkText({ kind, worstMs, scale }: LinkSpan): string {
  if (kind === 'limited') return t('replay.link.limited', { speed: percent(scale) })
  return kind === 'live' ? spanTexts.live : t('replay.link.delayed', { ms: Math.round(worstMs) })
}

/** Returns the log: of the recording, or of the session while the recording does not contain it yet. */
export function logEntries(
  recorded: readonly EventEntry[],
  live: readonly SessionLogEvent[],
  links: readonly LinkSpan[],
  participants: SessionParticipants,
): readonly LogEntry[] {
  const events =
    recorded.length > 0 ? recorded : live.map((event) => ({ ...event, atMs: Date.parse(event.at) }))
  const entries = [...events.map((event) => logEntry(event, participants)), ...linkEntries(links)]
  return entries.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)
}

const logEntry = ({ atMs, seq, type, data }: EventEntry, participants: SessionParticipants): LogEntry => {
  const isMessage = type === 'chat.message'
  return {
    atMs,
    seq,
    shape: eventShape(type),
    text: isMessage ? String(data.body) : eventText({ type, data }, participants),
    sender: isMessage ? String(data.sender_name) : undefined,
  }
}

/** Returns an entry for each time at which the connection became slow, and for the end of that. */
const linkEntries = (links: readonly LinkSpan[]): LogEntry[] =>
  links
    .filter(({ kind }, index) => kind !== 'live' || (index > 0 && links[index - 1]?.kind !== 'live'))
    .map((span) => ({
      atMs: span.fromMs,
      seq: 0,
      shape: span.kind === 'live' ? 'live' : 'delayed',
      text: t('replay.link.entry', { state: labelInSentence(linkText(span)) }),
      sender: undefined,
    }))
