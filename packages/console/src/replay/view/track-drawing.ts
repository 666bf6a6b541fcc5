import { fitCanvas } from '../../telemetry/trail-map.ts'
import { t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { LogEntry } from './log-entries.ts'
import { preciseClock } from './replay-time.ts'
import { type Axis, axisOf, type StateSpan, TRACK_HEIGHTS, type TrackName, type Tracks } from './tracks.ts'

const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 21_600]
const LABEL_PX = 76
const MINOR = 5
/** Commands with a longer time between them are not one stream. */
const COMMAND_PAUSE_MS = 400

interface DrawingContext {
  readonly context: CanvasRenderingContext2D
  readonly axis: Axis
  readonly colors: Colors
  readonly tracks: Tracks
}

/** Draws ruler and tracks. */
export function drawTracks(
  canvas: HTMLCanvasElement,
  { range, startMs, tracks }: { range: TimeRange; startMs: number; tracks: Tracks },
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const drawing = { context, axis: axisOf(range, width), colors: colorsOf(canvas), tracks }
  context.font = `11px ${getComputedStyle(canvas).fontFamily}`
  drawRuler(drawing, range, startMs, height)
  context.save()
  context.beginPath()
  context.rect(drawing.axis.left, 0, drawing.axis.right - drawing.axis.left, height)
  context.clip()
  drawEpisodes(drawing)
  drawStates(drawing)
  if (tracks.overview) drawCommands(drawing, tracks.overview)
  for (const gap of tracks.gaps) drawGap(drawing, gap, TRACK_HEIGHTS.ruler, height)
  drawMarks(drawing)
  context.restore()
}

const topOf = (track: TrackName): number => {
  let top = 0
  for (const [name, height] of Object.entries(TRACK_HEIGHTS)) {
    if (name === track) break
    top += height
  }
  return top
}

function drawRuler(
  { context, axis, colors }: DrawingContext,
  range: TimeRange,
  startMs: number,
  height: number,
): void {
  const wanted = (axis.msPerPx * LABEL_PX) / 1_000
  const step = (STEPS_S.find((candidate) => candidate >= wanted) ?? STEPS_S.at(-1) ?? 1) * 1_000
  const [from, to] = [range.fromMs - startMs, range.toMs - startMs]
  context.textBaseline = 'middle'
  for (let index = Math.ceil((from / step) * MINOR); (index * step) / MINOR <= to; index++) {
    const at = (index * step) / MINOR
    const x = Math.round(axis.xOf(at + startMs)) + 0.5
    const isMajor = index % MINOR === 0
    context.fillStyle = colors('grid')
    context.fillRect(x, TRACK_HEIGHTS.ruler - (isMajor ? 8 : 4), 1, isMajor ? height : 4)
    if (!isMajor) continue
    context.fillStyle = colors('dimmed')
    context.textAlign = 'center'
    context.fillText(preciseClock(at, step < 1_000 ? 1 : 0), x, 9)
  }
}

function drawEpisodes({ context, axis, colors, tracks }: DrawingContext): void {
  const [top, height] = [topOf('episodes'), TRACK_HEIGHTS.episodes]
  context.textAlign = 'left'
  for (const { fromMs, toMs, episode } of tracks.episodes) {
    const [x, end] = [axis.xOf(fromMs), axis.xOf(toMs)]
    const isRunning = episode.ended_at === null
    const result = episode.success === null ? 'episode' : episode.success ? 'success' : 'failure'
    fillRounded(context, x, top + 2, Math.max(2, end - x), height - 4, colors(isRunning ? 'running' : result))
    const left = Math.max(x, axis.left) + 5
    if (end - left < 24) continue
    context.save()
    context.beginPath()
    context.rect(left, top, end - left - 3, height)
    context.clip()
    context.fillStyle = '#fff'
    context.fillText(episode.task ?? t('replay.marks.noTask'), left, top + height / 2 + 0.5)
    context.restore()
  }
}

const STATE_COLORS: Readonly<Record<StateSpan['kind'], string>> = {
  stopped: 'stopped',
  paused: 'paused',
  offline: 'offline',
  halted: 'halted',
}

function drawStates({ context, axis, colors, tracks }: DrawingContext): void {
  const [top, height] = [topOf('state'), TRACK_HEIGHTS.state]
  for (const { fromMs, toMs, kind } of tracks.states) {
    const x = axis.xOf(fromMs)
    fillRounded(context, x, top + 3, Math.max(2, axis.xOf(toMs) - x), height - 6, colors(STATE_COLORS[kind]))
  }
}

function drawCommands(
  { context, axis, colors }: DrawingContext,
  { originMs, widthMs, passed, dropped }: Overview,
): void {
  const [top, height] = [topOf('commands') + 3, TRACK_HEIGHTS.commands - 6]
  const first = Math.max(0, Math.floor((axis.timeAt(axis.left) - originMs) / widthMs))
  const last = Math.min(passed.length - 1, Math.ceil((axis.timeAt(axis.right) - originMs) / widthMs))
  const lostOf = (index: number) => {
    let lost = 0
    for (const counts of dropped.values()) lost += counts[index] ?? 0
    return lost
  }
  const isEmpty = (index: number) => (passed[index] ?? 0) + lostOf(index) === 0
  for (let index = first; index <= last; index++) {
    if (isEmpty(index)) continue
    // Short buckets lie between two commands of the same stream.
    let next = index + 1
    while (next <= last && isEmpty(next) && (next - index) * widthMs < COMMAND_PAUSE_MS) next++
    if (isEmpty(next)) next = index + 1
    const [sent, lost] = [passed[index] ?? 0, lostOf(index)]
    const x = Math.floor(axis.xOf(originMs + index * widthMs))
    const width = Math.max(1, Math.ceil(axis.xOf(originMs + next * widthMs)) - x)
    const lostHeight = lost === 0 ? 0 : Math.max(4, (height * lost) / (sent + lost))
    context.fillStyle = colors('passed')
    context.fillRect(x, top + lostHeight, width, height - lostHeight)
    context.fillStyle = colors('dropped')
    context.fillRect(x, top, width, lostHeight)
  }
}

function drawMarks({ context, axis, colors, tracks }: DrawingContext): void {
  const middle = topOf('marks') + TRACK_HEIGHTS.marks / 2
  for (const { atMs, kind } of tracks.entries) drawEntry(context, axis.xOf(atMs), middle, kind, colors)
  for (const { fromMs } of tracks.marks) drawFlag(context, axis.xOf(fromMs), middle, colors('bookmark'))
}

function drawGap(
  { context, axis, colors }: DrawingContext,
  gap: TimeRange,
  top: number,
  bottom: number,
): void {
  hatch(context, { left: axis.xOf(gap.fromMs), right: axis.xOf(gap.toMs), top, bottom }, colors)
}

const HATCH_PX = 6

/** Colours by the name of their custom property. */
export type Colors = (name: string) => string

/** Returns the custom properties `--replay-…` of an element, as they are in the present colour scheme. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element)
  const known = new Map<string, string>()
  return (name) => {
    const color = known.get(name) ?? style.getPropertyValue(`--replay-${name}`).trim()
    known.set(name, color)
    return color
  }
}

/** Draws a mark for an entry of the log. */
function drawEntry(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  kind: LogEntry['kind'],
  colors: Colors,
): void {
  context.beginPath()
  if (kind === 'chat') context.roundRect(x - 4, y - 4, 8, 7, 2)
  else if (kind === 'stop') context.rect(x - 4, y - 4, 8, 8)
  else context.arc(x, y, 3, 0, 2 * Math.PI)
  context.fillStyle = colors(kind === 'chat' ? 'chat' : kind === 'stop' ? 'stopped' : 'event')
  context.fill()
}

/** Draws a bookmark. */
function drawFlag(context: CanvasRenderingContext2D, x: number, y: number, color: string): void {
  context.fillStyle = color
  context.beginPath()
  context.moveTo(x - 4, y - 7)
  context.lineTo(x + 4, y - 7)
  context.lineTo(x + 4, y + 7)
  context.lineTo(x, y + 3)
  context.lineTo(x - 4, y + 7)
  context.fill()
}

export function hatch(
  context: CanvasRenderingContext2D,
  { left, right, top, bottom }: { left: number; right: number; top: number; bottom: number },
  colors: Colors,
): void {
  const end = Math.max(right, left + 2)
  context.save()
  context.beginPath()
  context.rect(left, top, end - left, bottom - top)
  context.clip()
  context.fillStyle = colors('gap-fill')
  context.fillRect(left, top, end - left, bottom - top)
  context.strokeStyle = colors('gap')
  context.lineWidth = 1.5
  context.beginPath()
  const first = Math.floor(left / HATCH_PX) * HATCH_PX
  for (let x = first - (bottom - top); x < end; x += HATCH_PX) {
    context.moveTo(x, bottom)
    context.lineTo(x + bottom - top, top)
  }
  context.stroke()
  context.restore()
}

/** Fills a rectangle with round corners. */
function fillRounded(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  color: string,
): void {
  context.fillStyle = color
  context.beginPath()
  context.roundRect(x, y, width, height, Math.min(3, width / 2))
  context.fill()
}
