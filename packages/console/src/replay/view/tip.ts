import { t } from '../../texts/texts.ts'
import { decimals } from '../../ui/format.ts'
import type { Overview } from '../data/overview.ts'
import type { Replay } from '../player/replay.ts'
import { overviewFor } from './detail.ts'
import { valueNear } from './plot-data.ts'
import type { Plot, PlotLine } from './plot-lines.ts'
import { LINE_COLORS } from './plot-view.ts'
import { timeTip, trackTip } from './track-tips.ts'
import { axisOf, type Tracks, trackAt } from './tracks.ts'

const OFFSET_PX = 14

interface Options {
  readonly replay: Replay
  readonly startMs: number
  /** Returns the shown tracks and plots. */
  readonly read: () => { readonly tracks: Tracks; readonly plots: readonly Plot[] }
}

/** Shows the exact values below the pointer. It writes elements itself, because it follows every movement. */
export function createTip(root: HTMLElement, { replay, startMs, read }: Options) {
  const tip = root.querySelector<HTMLElement>('[data-tip]')
  const line = root.querySelector<HTMLElement>('[data-hover]')

  function hide(): void {
    for (const element of [tip, line]) element?.removeAttribute('data-shown')
  }

  function show(event: PointerEvent): void {
    if (!tip || !line || event.pointerType === 'touch') return
    const box = root.getBoundingClientRect()
    const axis = axisOf(replay.view.range.get(), root.clientWidth)
    const x = event.clientX - box.left
    if (x < axis.left || x > axis.right) return hide()
    const atMs = axis.timeAt(x)
    const target = event.target instanceof Element ? event.target : root
    const tracksElement = target.closest('[data-tracks]')
    const { tracks, plots } = read()
    const plot = plots.find(({ id }) => id === target.closest<HTMLElement>('[data-plot]')?.dataset.plot)
    const lines = tracksElement
      ? trackTip(trackAt(event.clientY - tracksElement.getBoundingClientRect().top), atMs, tracks, axis).map(
          textLine,
        )
      : plot
        ? plotTip(plot, atMs, overviewFor(replay, replay.view.range.get()))
        : []
    tip.replaceChildren(textLine(timeTip(atMs, startMs)), ...lines)
    tip.dataset.shown = ''
    line.dataset.shown = ''
    line.style.transform = `translateX(${x.toFixed(1)}px)`
    positionTip(tip, x, event.clientY - box.top, root)
  }

  return { show, hide, close: hide }
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
    dot.style.background = `var(--replay-line-${index % LINE_COLORS})`
    element.prepend(dot)
    return [element]
  })
}

/** Returns one value, or the smallest and the largest one of the bucket. */
function rangeText(line: PlotLine, [low, high]: readonly [number, number]): string {
  const [from, to] = [valueText(line, low), valueText(line, high)]
  return from === to ? from : t('replay.tip.range', { from: valueText({ ...line, unit: '' }, low), to })
}

/** Returns a number of a line with its unit. */
export function valueText({ unit, factor }: PlotLine, value: number): string {
  const scaled = value * factor
  const digits = unit === 'ms' ? 0 : unit === '%' || Math.abs(scaled) >= 100 ? 1 : 2
  return `${decimals(scaled, digits)} ${unit}`.trim()
}
