import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import {
  type ControlSchema,
  kindsOf,
  type TelemetryField,
  type TelemetryKind,
  type TelemetrySchema,
} from '@wheelhouse/protocol'
import uPlot from 'uplot'
import { createPersisted } from '../../base/persisted.ts'
import { labelAndUnit, labelOf } from '../../telemetry/sample-reader.ts'
import { language, t } from '../../texts/texts.ts'
import type { Overview } from '../data/overview.ts'
import type { TimeRange } from '../data/recording-source.ts'
import { colorsOf, END_PX, type GapSpan, hatch } from './tracks.ts'

export interface PlotLine {
  /** The source and the path of its numbers, such as `telemetry:velocity.linear_mps`. */
  readonly key: string
  readonly label: string
  readonly unit: string
  readonly factor: number
}

export interface Plot {
  readonly id: string
  readonly title: string
  readonly lines: readonly PlotLine[]
}

export interface RecordedSchemas {
  readonly telemetry: TelemetrySchema | null
  readonly control: ControlSchema | null
}

/** A plot with more lines cannot be read. */
const MAX_LINES = 8
const SPEED_PATHS = ['linear_mps', 'linear', 'linear.x']

/** Returns the plots of a recording with these numbers: first what matters most, then the other fields of the telemetry. */
export function plotsOf(keys: Iterable<string>, schemas: RecordedSchemas): readonly Plot[] {
  const all = [...keys].filter((key) => key !== 'telemetry:t')
  const velocity = kindPath(schemas.telemetry, 'velocity', ['velocity'])
  const battery = kindPath(schemas.telemetry, 'battery', ['battery'])
  const speedKey = velocity && `telemetry:${[...velocity, 'linear_mps'].join('.')}`
  const batteryKey = battery && `telemetry:${battery.join('.')}`
  const commanded = SPEED_PATHS.map((path) => `control:${path}`).find((key) => all.includes(key))
  const plot = (
    id: string,
    title: string,
    ...wanted: readonly (readonly [key: string | undefined, changes?: Partial<PlotLine>])[]
  ) => ({
    id,
    title,
    lines: wanted.flatMap(([key, changes]) =>
      key !== undefined && all.includes(key) ? [{ ...describe(key, schemas), ...changes }] : [],
    ),
  })
  const commands = all.filter((key) => key.startsWith('control:'))
  const share = (label: string) => ({ label, unit: '%', factor: 100 })
  const plots = [
    plot(
      'speed',
      t('replay.plots.speed'),
      [speedKey, { label: t('replay.plots.measured') }],
      [commanded, { label: t('replay.plots.commanded') }],
    ),
    plot('battery', t('replay.plots.battery'), [batteryKey, share(t('replay.plots.battery'))]),
    plot(
      'latency',
      t('replay.plots.latency'),
      ['latency:operator_ms', { label: t('replay.plots.operator') }],
      ['latency:robot_ms', { label: t('replay.plots.robot') }],
    ),
    plot('commands', t('replay.plots.commands'), ...commands.map((key) => [key] as const)),
    plot('limit', t('replay.plots.limit'), ['limits:speed_scale', share(t('replay.plots.limit'))]),
    ...telemetryPlots(all, new Set([speedKey, batteryKey]), schemas),
  ]
  return plots
    .filter(({ lines }) => lines.length > 0)
    .map((plot) => ({ ...plot, lines: plot.lines.slice(0, MAX_LINES) }))
}

/** Returns a plot for each object of the telemetry and each unit in it. */
function telemetryPlots(
  keys: readonly string[],
  shown: ReadonlySet<string | undefined>,
  schemas: RecordedSchemas,
): Plot[] {
  const plots = new Map<string, { title: string; lines: PlotLine[] }>()
  for (const key of keys) {
    if (!key.startsWith('telemetry:') || shown.has(key)) continue
    const line = describe(key, schemas)
    const parents = pathOf(key).slice(0, -1)
    const id = `telemetry:${parents.join('.') || key} ${line.unit}`
    const title = parents.length > 0 ? labelOf(parents) : line.label
    const plot = plots.get(id) ?? { title, lines: [] }
    plot.lines.push(line)
    plots.set(id, plot)
  }
  return [...plots].map(([id, plot]) => ({ id, ...plot }))
}

const pathOf = (key: string): string[] => key.slice(key.indexOf(':') + 1).split('.')

function describe(key: string, { telemetry, control }: RecordedSchemas): PlotLine {
  const path = pathOf(key)
  const schema = key.startsWith('telemetry:') ? telemetry : key.startsWith('control:') ? control : null
  const declared = schema && fieldAt(schema.properties, path)
  const { label, unit } = labelAndUnit(path)
  const title = declared && 'title' in declared ? declared.title : undefined
  const declaredUnit = declared && 'x-unit' in declared ? declared['x-unit'] : undefined
  return { key, label: title ?? label, unit: declaredUnit ?? unit, factor: 1 }
}

type Fields = Readonly<Record<string, Partial<TelemetryField>>>

function fieldAt(fields: Fields, [name, ...rest]: readonly string[]): Partial<TelemetryField> | undefined {
  const field = name === undefined ? undefined : fields[name]
  if (!field || rest.length === 0) return field
  if ('properties' in field && field.properties) return fieldAt(field.properties, rest)
  return 'items' in field ? (field.items as Partial<TelemetryField>) : undefined
}

/** Returns the path of the first field of a kind; `undeclared` for a robot without a schema. */
function kindPath(telemetry: TelemetrySchema | null, kind: TelemetryKind, undeclared: readonly string[]) {
  if (!telemetry) return undeclared
  return [...kindsOf(telemetry)].find((field) => field.kind === kind)?.path
}

/** Returns where a sample has the pose; null for nowhere. */
export const posePathOf = (telemetry: TelemetrySchema | null): readonly string[] | null =>
  kindPath(telemetry, 'pose', ['pose']) ?? null

/** Plots that are shown unless the viewer chose otherwise. The others are in the menu. */
const SHOWN_AT_FIRST: ReadonlySet<string> = new Set(['speed', 'battery', 'latency', 'commands'])

type ByPlot<T> = Readonly<Record<string, T>>
const stored = <T,>(key: string) =>
  createPersisted<ByPlot<T>>(key, {}, (text) => JSON.parse(text) as ByPlot<T>, JSON.stringify)

export const plotChoices = stored<boolean>('wheelhouse-replay-plots')

export const isPlotShown = (choices: ByPlot<boolean>, { id }: Plot): boolean =>
  choices[id] ?? SHOWN_AT_FIRST.has(id)

export const DEFAULT_PX = 68
const [SMALLEST_PX, LARGEST_PX] = [48, 320]

/** The heights of plots that the viewer has changed, in pixels, by id. */
export const plotHeights = stored<number>('wheelhouse-replay-heights')

export function resizePlot({ id }: Plot, height: number): void {
  const within = Math.round(Math.min(LARGEST_PX, Math.max(SMALLEST_PX, height)))
  plotHeights.update((old) => ({ ...old, [id]: within }))
}

export const PlotMenu = ({ plots, choices }: { plots: readonly Plot[]; choices: ByPlot<boolean> }) => (
  <Popover position="top-end" withinPortal>
    <Popover.Target>
      <Button variant="default" px="xs">
        {t('replay.plots.choose')}
      </Button>
    </Popover.Target>
    <Popover.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
      <Stack gap="xs" role="group" aria-label={t('replay.plots.choose')}>
        {plots.map((plot) => (
          <Checkbox
            key={plot.id}
            size="xs"
            label={plot.title}
            checked={isPlotShown(choices, plot)}
            onChange={({ currentTarget: { checked } }) =>
              plotChoices.update((old) => ({ ...old, [plot.id]: checked }))
            }
          />
        ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
)

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
