import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import {
  type ControlSchema,
  kindsOf,
  type TelemetryField,
  type TelemetryKind,
  type TelemetrySchema,
} from '@wheelhouse/protocol'
import { createPersisted } from '../../base/persisted.ts'
import { labelAndUnit, labelOf } from '../../telemetry/sample-reader.ts'
import { t } from '../../texts/texts.ts'

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
  const lines = (...wanted: readonly (readonly [key: string | undefined, changes?: Partial<PlotLine>])[]) =>
    wanted.flatMap(([key, changes]) =>
      key !== undefined && all.includes(key) ? [{ ...describe(key, schemas), ...changes }] : [],
    )
  const commands = all.filter((key) => key.startsWith('control:'))
  const share = (label: string) => ({ label, unit: '%', factor: 100 })
  const plots = [
    {
      id: 'speed',
      title: t('replay.plots.speed'),
      lines: lines(
        [speedKey, { label: t('replay.plots.measured') }],
        [commanded, { label: t('replay.plots.commanded') }],
      ),
    },
    {
      id: 'battery',
      title: t('replay.plots.battery'),
      lines: lines([batteryKey, share(t('replay.plots.battery'))]),
    },
    {
      id: 'latency',
      title: t('replay.plots.latency'),
      lines: lines(
        ['latency:operator_ms', { label: t('replay.plots.operator') }],
        ['latency:robot_ms', { label: t('replay.plots.robot') }],
      ),
    },
    {
      id: 'commands',
      title: t('replay.plots.commands'),
      lines: lines(...commands.map((key) => [key] as const)),
    },
    {
      id: 'limit',
      title: t('replay.plots.limit'),
      lines: lines(['limits:speed_scale', share(t('replay.plots.limit'))]),
    },
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
