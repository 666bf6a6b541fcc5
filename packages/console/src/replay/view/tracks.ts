import type { SessionLogEvent } from '@wheelhouse/protocol'
import { labelInSentence } from '../../base/format.ts'
import { DELAYED_MS } from '../../freshness/freshness.ts'
import type { Bookmark, RecordedEpisode, RecordingGap } from '../../recording/recordings.ts'
import { eventShape, eventText, type SessionParticipants } from '../../session/event-texts.ts'
import { fitCanvas } from '../../telemetry/trail-map.ts'
import { reasonText, robotStateTexts } from '../../texts/code-texts.ts'
import { percent } from '../../texts/percent.ts'
import { t } from '../../texts/texts.ts'
import type { EventEntry, Overview, StopEntry } from '../data/overview.ts'
import type { TimeRange } from '../data/recording-source.ts'
import { preciseClock } from './replay-time.ts'

export interface Mark {
  readonly atMs: number
  readonly bookmark: Bookmark
}

export type LogEntry = Readonly<ReturnType<typeof logEntry>>

export interface Tracks {
  readonly episodes: ReturnType<typeof episodeSpans>
  readonly states: readonly StateSpan[]
  readonly links: readonly LinkSpan[]
  readonly gaps: readonly GapSpan[]
  readonly entries: readonly LogEntry[]
  readonly marks: readonly Mark[]
  readonly overview: Overview | undefined
}

export type TrackName = 'ruler' | 'episodes' | 'state' | 'link' | 'marks'
const RULER_PX = 26
const LANE_PX = 24
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

/** Places episodes in as few lines of the track as possible, from 0, so that none covers another. */
export function episodeSpans(episodes: readonly RecordedEpisode[], endMs: number) {
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

export type GapSpan = ReturnType<typeof gapSpans>[number]

/** Returns the gaps in the order of time. One that still lasts ends with the recording. */
export const gapSpans = (gaps: readonly RecordingGap[], endMs: number) =>
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

const logEntry = ({ atMs, seq, type, data }: EventEntry, participants: SessionParticipants) => {
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

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 21_600]
const LABEL_PX = 76
const MINOR = 5
/** Commands with a longer time between them are not one stream. */
const COMMAND_PAUSE_MS = 400
const GAP_PX = 3

interface DrawingContext {
  readonly context: CanvasRenderingContext2D
  readonly axis: Axis
  readonly colors: Colors
  readonly tracks: Tracks
}

export function drawTracks(
  canvas: HTMLCanvasElement,
  { range, startMs, tracks }: { range: TimeRange; startMs: number; tracks: Tracks },
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const drawing = { context, axis: axisOf(range, width), colors: colorsOf(canvas), tracks }
  const [ruler, episodes, state, link] = layoutOf(tracks)
  if (!ruler || !episodes || !state || !link) return
  context.font = `550 12px ${getComputedStyle(canvas).fontFamily}`
  drawRuler(drawing, { range, startMs, rulerPx: ruler.height, height })
  const { left, right, xOf } = drawing.axis
  within(context, { x: left, y: 0, width: right - left, height }, () => {
    drawEpisodes(drawing, episodes.top)
    for (const span of tracks.states) drawSpan(drawing, span, state.top)
    for (const span of tracks.links) drawSpan(drawing, span, link.top)
    drawDropped(drawing, link.bottom - GAP_PX)
    for (const { fromMs, toMs } of tracks.gaps) {
      const box = {
        x: xOf(fromMs),
        y: ruler.bottom,
        width: xOf(toMs) - xOf(fromMs),
        height: height - ruler.bottom,
      }
      hatch(context, box)
    }
  })
}

/** Draws within a box: what lies beyond it is cut off. */
function within(context: CanvasRenderingContext2D, { x, y, width, height }: Box, draw: () => void): void {
  context.save()
  context.beginPath()
  context.rect(x, y, width, height)
  context.clip()
  draw()
  context.restore()
}

/** Draws the states alone, over the whole width. */
export function drawStates(canvas: HTMLCanvasElement, spans: readonly StateSpan[], range: TimeRange): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const colors = colorsOf(canvas)
  const pxPerMs = width / (range.toMs - range.fromMs)
  for (const { fromMs, toMs, kind } of spans) {
    const x = (fromMs - range.fromMs) * pxPerMs
    drawSwatch(context, { x, y: 0, width: Math.max(2, (toMs - fromMs) * pxPerMs - 1), height }, kind, colors)
  }
}

function drawRuler(
  { context, axis, colors }: DrawingContext,
  { range, startMs, rulerPx, height }: { range: TimeRange; startMs: number; rulerPx: number; height: number },
): void {
  const wanted = (axis.msPerPx * LABEL_PX) / 1_000
  const step = (STEPS_S.find((candidate) => candidate >= wanted) ?? STEPS_S.at(-1) ?? 1) * 1_000
  const [from, to] = [range.fromMs - startMs, range.toMs - startMs]
  context.textBaseline = 'middle'
  for (let index = Math.ceil((from / step) * MINOR); (index * step) / MINOR <= to; index++) {
    const at = (index * step) / MINOR
    const x = Math.round(axis.xOf(at + startMs)) + 0.5
    const isMajor = index % MINOR === 0
    context.fillStyle = colors('--line')
    context.fillRect(x, rulerPx - (isMajor ? 8 : 4), 1, isMajor ? height : 4)
    if (!isMajor) continue
    context.fillStyle = colors('--text-2')
    context.textAlign = at === 0 ? 'left' : 'center'
    context.fillText(preciseClock(at, step < 1_000 ? 1 : 0), x, 10)
  }
}

function drawEpisodes({ context, axis, tracks }: DrawingContext, top: number): void {
  for (const { fromMs, toMs, episode, lane } of tracks.episodes) {
    const result = episode.success === null ? '#46505d' : episode.success ? '#17614a' : '#8a4a12'
    const box = boxOf(axis, { fromMs, toMs }, top + lane * LANE_PX)
    fillRounded(context, box, episode.ended_at === null ? '#1f6fd6' : result)
    if (episode.success === false) drawPattern(context, box, 'slashes', 'rgb(255 255 255 / 35%)')
    drawLabel(context, axis, box, { text: episodeName(episode), ink: '#fff', ground: result })
  }
}

/** How a state looks: its pattern tells it apart without its colour. A colour is a custom property or a value. */
interface Look {
  readonly pattern: 'plain' | 'slashes' | 'bars' | 'crosses' | 'low' | 'sign'
  readonly fill: string
  readonly ink: string
}

const looks: Readonly<Record<SpanKind, Look>> = {
  driving: { pattern: 'plain', fill: '#28507f', ink: '#fff' },
  stopped: { pattern: 'sign', fill: '--stop', ink: '#fff' },
  paused: { pattern: 'bars', fill: '#3a4488', ink: '#e4e9ff' },
  lost: { pattern: 'crosses', fill: '#343d49', ink: '#eef2f6' },
  halted: { pattern: 'low', fill: '#6f8fb5', ink: '--text-2' },
  live: { pattern: 'plain', fill: '#2b333d', ink: '#fff' },
  delayed: { pattern: 'slashes', fill: '--hud-delayed', ink: '--on-delayed' },
  limited: { pattern: 'low', fill: '--hud-delayed', ink: '--hud-delayed' },
}

/** Draws a state or a connection with its name, if there is space for it. */
function drawSpan(
  { context, axis, colors }: DrawingContext,
  { kind, ...range }: TimeRange & { kind: SpanKind },
  top: number,
): void {
  const box = boxOf(axis, range, top)
  drawSwatch(context, box, kind, colors)
  const { pattern, fill, ink } = looks[kind]
  const ground = pattern === 'low' ? undefined : colors(fill)
  // The sign of a stop is in the way of its name.
  const startPx = kind === 'stopped' ? 22 : 6
  drawLabel(context, axis, box, { text: spanTexts[kind], ink: colors(ink), ground, startPx })
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const boxOf = (axis: Axis, { fromMs, toMs }: TimeRange, top: number): Box => ({
  x: axis.xOf(fromMs),
  y: top + GAP_PX,
  width: Math.max(2, axis.xOf(toMs) - axis.xOf(fromMs) - 1),
  height: LANE_PX - 2 * GAP_PX,
})

export function drawSwatch(
  context: CanvasRenderingContext2D,
  box: Box,
  kind: SpanKind,
  colors: Colors,
): void {
  const { pattern, fill, ink } = looks[kind]
  const isLow = pattern === 'low'
  fillRounded(
    context,
    isLow ? { ...box, y: box.y + box.height * 0.7, height: box.height * 0.3 } : box,
    colors(fill),
  )
  if (pattern === 'sign') drawStopSign(context, box)
  else if (pattern !== 'plain' && !isLow) drawPattern(context, box, pattern, colors(ink))
}

function drawStopSign(context: CanvasRenderingContext2D, { x, y, width, height }: Box): void {
  if (width < height) return
  const radius = height / 2 - 3
  context.beginPath()
  for (let corner = 0; corner < 8; corner++) {
    const angle = (Math.PI / 4) * (corner + 0.5)
    context.lineTo(x + height / 2 + 1 + radius * Math.cos(angle), y + height / 2 + radius * Math.sin(angle))
  }
  context.closePath()
  context.fillStyle = '#fff'
  context.fill()
}

const PATTERN_PX = 7

function drawPattern(
  context: CanvasRenderingContext2D,
  box: Box,
  pattern: 'slashes' | 'bars' | 'crosses',
  color: string,
): void {
  const slant = pattern === 'bars' ? 0 : box.height
  within(context, box, () => {
    context.strokeStyle = color
    context.globalAlpha = 0.45
    context.lineWidth = pattern === 'bars' ? 2.5 : 1.5
    strokeLines(context, box, { stepPx: PATTERN_PX, fromPx: PATTERN_PX / 2 - box.height, slant })
    if (pattern === 'crosses')
      strokeLines(context, box, { stepPx: PATTERN_PX, fromPx: PATTERN_PX / 2, slant: -slant })
  })
}

/** Draws parallel lines from the bottom to the top of a box. @param lines.fromPx where the first one begins, from the left */
function strokeLines(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Box,
  { stepPx, fromPx, slant }: { stepPx: number; fromPx: number; slant: number },
): void {
  context.beginPath()
  for (let at = x + fromPx; at < x + width + Math.max(0, -slant); at += stepPx) {
    context.moveTo(at, y + height)
    context.lineTo(at + slant, y)
  }
  context.stroke()
}

/** Writes a name into a box, on its own ground, so that the pattern does not cross it. It is left out where it does not fit. */
function drawLabel(
  context: CanvasRenderingContext2D,
  axis: Axis,
  { x, y, width, height }: Box,
  {
    text,
    ink,
    ground,
    startPx = 6,
  }: { text: string; ink: string; ground: string | undefined; startPx?: number },
): void {
  const left = Math.max(x, axis.left)
  const space = x + width - left - startPx - 4
  const { width: wanted } = context.measureText(text)
  // A long task may be cut, a word for a state may not.
  if (space < Math.min(wanted, 44)) return
  within(context, { x: left, y, width: startPx + space, height }, () => {
    if (ground) {
      context.fillStyle = ground
      context.fillRect(left + startPx - 3, y + 1, Math.min(wanted, space) + 6, height - 2)
    }
    context.fillStyle = ink
    context.textAlign = 'left'
    context.fillText(text, left + startPx, y + height / 2 + 0.5)
  })
}

/** Marks along the lower edge of the link where commands did not reach the robot. */
function drawDropped({ context, axis, tracks }: DrawingContext, bottom: number): void {
  if (!tracks.overview) return
  const { originMs, widthMs, passed, dropped } = tracks.overview
  const first = Math.max(0, Math.floor((axis.timeAt(axis.left) - originMs) / widthMs))
  const last = Math.min(passed.length - 1, Math.ceil((axis.timeAt(axis.right) - originMs) / widthMs))
  context.fillStyle = '#ff922b'
  for (let index = first; index <= last; index++) {
    if (![...dropped.values()].some((counts) => (counts[index] ?? 0) > 0)) continue
    const width = Math.max(widthMs, Math.min(COMMAND_PAUSE_MS, 4 * axis.msPerPx))
    const x = Math.floor(axis.xOf(originMs + index * widthMs))
    context.fillRect(x, bottom - 4, Math.max(2, width / axis.msPerPx), 4)
  }
}

const HATCH_PX = 6

/** Returns the value of a custom property. Any other colour is its own value. */
export type Colors = (color: string) => string

export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element)
  return (color) => (color.startsWith('--') ? style.getPropertyValue(color).trim() : color)
}

/** Fills a box with the lines of a gap. */
export function hatch(context: CanvasRenderingContext2D, gap: Box): void {
  const box = { ...gap, width: Math.max(2, gap.width) }
  within(context, box, () => {
    context.fillStyle = 'rgb(20 24 30 / 55%)'
    context.fillRect(box.x, box.y, box.width, box.height)
    context.strokeStyle = 'rgb(255 255 255 / 28%)'
    context.lineWidth = 1.5
    const first = Math.floor(box.x / HATCH_PX) * HATCH_PX - box.x
    strokeLines(context, box, { stepPx: HATCH_PX, fromPx: first - box.height, slant: box.height })
  })
}

function fillRounded(context: CanvasRenderingContext2D, { x, y, width, height }: Box, color: string): void {
  context.fillStyle = color
  context.beginPath()
  context.roundRect(x, y, width, height, Math.min(5, width / 2, height / 2))
  context.fill()
}
