import { decimals } from '../../base/format.ts'
import { dropText, gapText } from '../../texts/code-texts.ts'
import { language, t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { Replay } from '../player/replay.ts'
import { lineColor, valueNear } from './plot-view.ts'
import type { Plot, PlotLine } from './plots.tsx'
import { preciseClock, wallClock } from './replay-time.ts'
import {
  type Axis,
  axisOf,
  episodeName,
  episodeResult,
  linkText,
  spanAt,
  stateText,
  type TrackName,
  type Tracks,
  trackAt,
} from './tracks.ts'

const OFFSET_PX = 14

/**
 * Shows the exact values below the pointer. It writes elements itself, because it follows every movement.
 * @param read returns the shown tracks and plots
 */
export function createTip(
  root: HTMLElement,
  replay: Replay,
  read: () => { readonly tracks: Tracks; readonly plots: readonly Plot[] },
) {
  const tip = root.querySelector<HTMLElement>('[data-tip]')
  const line = root.querySelector<HTMLElement>('[data-hover]')

  function hide(): void {
    for (const element of [tip, line]) element?.removeAttribute('data-shown')
  }

  function show(event: PointerEvent): void {
    if (!tip || !line || event.pointerType === 'touch') return
    const box = root.getBoundingClientRect()
    const range = replay.view.range.get()
    const axis = axisOf(range, root.clientWidth)
    const x = event.clientX - box.left
    if (x < axis.left || x > axis.right) return hide()
    const atMs = axis.timeAt(x)
    const target = event.target instanceof Element ? event.target : root
    const tracksElement = target.closest('[data-tracks]')
    const { tracks, plots } = read()
    const plot = plots.find(({ id }) => id === target.closest<HTMLElement>('[data-plot]')?.dataset.plot)
    const y = event.clientY - (tracksElement?.getBoundingClientRect().top ?? 0)
    const lines = tracksElement ? trackTip(trackAt(y, tracks), atMs, tracks, axis).map(textLine) : []
    if (plot) lines.push(...plotTip(plot, atMs, replay.overviewOf(range)))
    const time = `${preciseClock(atMs - replay.startMs, 2)} · ${wallClock(atMs)}`
    tip.replaceChildren(textLine(time), ...lines)
    tip.dataset.shown = ''
    line.dataset.shown = ''
    line.style.transform = `translateX(${x.toFixed(1)}px)`
    positionTip(tip, x, event.clientY - box.top, root)
  }

  return { show, hide }
}

function positionTip(tip: HTMLElement, x: number, y: number, root: HTMLElement): void {
  const { offsetWidth, offsetHeight } = tip
  const isLeft = x + OFFSET_PX + offsetWidth > root.clientWidth
  const left = isLeft ? Math.max(0, x - OFFSET_PX - offsetWidth) : x + OFFSET_PX
  const top = Math.max(0, y - offsetHeight - OFFSET_PX) + root.scrollTop
  tip.style.transform = `translate(${left.toFixed(0)}px, ${top.toFixed(0)}px)`
}

function textLine(text: string): HTMLElement {
  const element = document.createElement('div')
  element.textContent = text
  return element
}

function plotTip(plot: Plot, atMs: number, overview: Overview | undefined): HTMLElement[] {
  return plot.lines.flatMap((line, index) => {
    const values = overview && valueNear(overview, overview.series.get(line.key), atMs)
    if (!values) return []
    const element = textLine(t('replay.tip.value', { name: line.label, value: rangeText(line, values) }))
    const dot = document.createElement('i')
    dot.style.background = lineColor(index)
    element.prepend(dot)
    return [element]
  })
}

/** Returns one value, or the smallest and the largest one of the bucket. */
function rangeText(line: PlotLine, [low, high]: readonly [number, number]): string {
  const [from, to] = [valueText(line, low), valueText(line, high)]
  return from === to ? from : t('replay.tip.range', { from: valueText({ ...line, unit: '' }, low), to })
}

export function valueText({ unit, factor }: PlotLine, value: number): string {
  const scaled = value * factor
  const digits = unit === 'ms' ? 0 : unit === '%' || Math.abs(scaled) >= 100 ? 1 : 2
  return `${decimals(scaled, digits)} ${unit}`.trim()
}

const REACH_PX = 6
/** Operators send commands more often than twice in this time. */
const COMMAND_REACH_MS = 100

const counts = new Intl.NumberFormat(language)

/** Returns what a track shows at a time, as lines of text. */
function trackTip(track: TrackName | undefined, atMs: number, tracks: Tracks, axis: Axis): string[] {
  const reach = REACH_PX * axis.msPerPx
  const gap = spanAt(tracks.gaps, atMs, reach / 2)
  const gapLines = gap ? [t('replay.tip.gap', { reason: gapText(gap.reason) }), length(gap)] : []
  if (track === 'episodes') return [...episodeTip(tracks, atMs), ...gapLines]
  const state = spanAt(tracks.states, atMs, reach / 2)
  if (track === 'state') return [...(state ? [stateText(state), length(state)] : []), ...gapLines]
  if (track !== 'link') return gapLines
  const link = spanAt(tracks.links, atMs, reach / 2)
  return [
    ...(link ? [linkText(link), length(link)] : []),
    ...commandTip(tracks.overview, atMs, reach),
    ...gapLines,
  ]
}

const length = ({ fromMs, toMs }: TimeRange) =>
  t('replay.tip.length', { length: preciseClock(toMs - fromMs) })

const episodeTip = ({ episodes }: Tracks, atMs: number): string[] =>
  episodes
    .filter(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
    .flatMap((span) => [episodeName(span.episode), episodeResult(span.episode), length(span)])

/** Counts the commands around a time: between two of them a bucket may be empty. */
function commandTip(overview: Overview | undefined, atMs: number, reach: number): string[] {
  if (!overview) return []
  const { originMs, widthMs } = overview
  const middle = Math.floor((atMs - originMs) / widthMs)
  const margin = Math.ceil(Math.max(reach / 2, COMMAND_REACH_MS) / widthMs)
  const [first, last] = [Math.max(0, middle - margin), middle + margin]
  const sum = (values: Uint32Array) => values.subarray(first, last + 1).reduce((a, b) => a + b, 0)
  const passed = sum(overview.passed)
  const dropped = [...overview.dropped]
    .map(([why, values]) => [why, sum(values)] as const)
    .filter(([, count]) => count > 0)
  if (passed === 0 && dropped.length === 0) return []
  return [
    t('replay.tip.passed', { commands: counts.format(passed) }),
    ...dropped.map(([why, count]) =>
      t('replay.tip.dropped', { commands: counts.format(count), reason: dropText(why) }),
    ),
    t('replay.tip.within', { length: preciseClock((last + 1 - first) * widthMs, 2) }),
  ]
}
