import uPlot from 'uplot'
import { language } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../player/clock.ts'
import type { Plot } from './plots.tsx'
import { colorsOf, hatch } from './track-drawing.ts'
import { END_PX, type GapSpan } from './tracks.ts'

const lineColors = ['#79b8ff', '#ffb86b', '#45d39a', '#da9cf2', '#ff9c96', '#3bc9db', '#ffd43b', '#a9bcff']
export const lineColor = (index: number) => lineColors[index % lineColors.length] ?? ''

const numbers = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 })

interface Options {
  readonly plot: Plot
  readonly startMs: number
  readonly gaps: () => readonly GapSpan[]
}

/** Draws the lines of one plot. Its axis of time is that of the tracks. */
export function createPlotView(element: HTMLElement, { plot, startMs, gaps }: Options) {
  const colors = colorsOf(element)
  const font = `12px ${getComputedStyle(element).fontFamily}`
  const size = () => ({ width: Math.max(1, element.clientWidth), height: Math.max(1, element.clientHeight) })
  let shown: TimeRange = { fromMs: startMs, toMs: startMs + 1 }
  const seconds = (atMs: number) => (atMs - startMs) / 1_000
  const chart = new uPlot(
    {
      ...size(),
      padding: [8, 0, 8, 0],
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [seconds(shown.fromMs), seconds(shown.toMs)] },
        y: { range: rangeOf },
      },
      axes: [
        { show: false },
        {
          side: 1,
          size: END_PX,
          font,
          stroke: colors('--text-2'),
          space: 26,
          gap: 6,
          ticks: { show: false },
          grid: { stroke: colors('--line'), width: 1 },
          values: (_, ticks) => ticks.map((tick) => numbers.format(tick)),
        },
      ],
      series: [
        {},
        ...plot.lines.map((_, index) => ({
          stroke: lineColor(index),
          width: 1.75,
          // Lines are told apart without their colours.
          ...(index > 0 && { dash: [index * 3 + 2, 3] }),
          points: { show: false },
        })),
      ],
      hooks: { drawAxes: [(self) => drawGaps(self, gaps(), seconds)] },
    },
    [[], ...plot.lines.map(() => [])],
    element,
  )
  return {
    setData(overview: Overview): void {
      const { series, widthMs } = overview
      const empty = new Float64Array(2 * overview.passed.length).fill(Number.NaN)
      chart.setData(
        [
          timesOf(overview, startMs) as unknown as number[],
          ...plot.lines.map(({ key, factor }) => valuesOf(series.get(key) ?? empty, widthMs, factor)),
        ] as uPlot.AlignedData,
        false,
      )
      this.show(shown)
    },
    show(range: TimeRange): void {
      shown = range
      chart.setScale('x', { min: seconds(range.fromMs), max: seconds(range.toMs) })
    },
    resize: () => chart.setSize(size()),
    close: () => chart.destroy(),
  }
}
export type PlotView = ReturnType<typeof createPlotView>

/** Returns the range of an axis: with some space, and not narrower than the noise of a constant. */
function rangeOf(_: uPlot, low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1]
  const padding = Math.max((high - low) * 0.08, Math.abs(high) * 1e-3, 1e-3)
  return [low >= 0 && low < padding * 2 ? 0 : low - padding, high + padding]
}

function drawGaps(chart: uPlot, gaps: readonly GapSpan[], seconds: (atMs: number) => number): void {
  const { left, top, width, height } = chart.bbox
  for (const gap of gaps) {
    const from = Math.max(left, chart.valToPos(seconds(gap.fromMs), 'x', true))
    const to = Math.min(left + width, chart.valToPos(seconds(gap.toMs), 'x', true))
    if (to <= from) continue
    hatch(chart.ctx, { x: from, y: top, width: to - from, height })
  }
}

/** A pause in the data that is at least this long is shown as a pause. */
const SHORTEST_PAUSE_MS = 3_000
/** A source is taken as interrupted after this many of its usual periods. */
const PERIODS = 4

/** Returns the times of the values of each bucket, in seconds since the start. */
function timesOf({ originMs, widthMs, passed }: Overview, startMs: number): Float64Array {
  const times = new Float64Array(2 * passed.length)
  for (let index = 0; index < times.length; index++)
    times[index] = (originMs - startMs + widthMs * (index / 2 + 0.25)) / 1_000
  return times
}

/**
 * Returns values as uPlot takes them: null where the source was silent, which interrupts the line, and undefined where there is
 * only no value of this bucket.
 */
export function valuesOf(
  pairs: Float64Array,
  widthMs: number,
  factor: number,
): (number | null | undefined)[] {
  const longest = Math.max(SHORTEST_PAUSE_MS, PERIODS * usualPeriod(pairs) * widthMs) / (widthMs / 2)
  const values: (number | null | undefined)[] = new Array(pairs.length)
  let last = Number.NEGATIVE_INFINITY
  for (let index = 0; index < pairs.length; index++) {
    const value = pairs[index] ?? Number.NaN
    if (Number.isNaN(value)) continue
    values[index] = value * factor
    if (index - last > longest) values.fill(null, Math.max(0, last + 1), index)
    last = index
  }
  return values
}

/** Returns how many buckets there usually are from one with a value to the next: the median, which silence does not change. */
function usualPeriod(pairs: Float64Array): number {
  const periods: number[] = []
  let last = -1
  for (let index = 0; index < pairs.length; index += 2) {
    if (Number.isNaN(pairs[index] ?? Number.NaN)) continue
    if (last >= 0) periods.push((index - last) / 2)
    last = index
  }
  return periods.sort((a, b) => a - b)[periods.length >> 1] ?? 1
}

/** Returns the smallest and the largest value of the bucket of a time; undefined without one nearby. */
export function valueNear(
  { originMs, widthMs }: Overview,
  pairs: Float64Array | undefined,
  atMs: number,
): readonly [low: number, high: number] | undefined {
  if (!pairs) return undefined
  const index = Math.floor((atMs - originMs) / widthMs)
  const reach = Math.ceil(SHORTEST_PAUSE_MS / widthMs)
  for (let step = 0; step <= reach; step++) {
    const [one, other] = [pairs[2 * (index - step)], pairs[2 * (index - step) + 1]]
    if (one !== undefined && other !== undefined && !Number.isNaN(one))
      return [Math.min(one, other), Math.max(one, other)]
  }
  return undefined
}
