import { type ControlSchema, kindsOf, type TelemetryField, type TelemetrySchema } from '@wheelhouse/protocol'
import { labelAndUnit, labelOf } from '../../telemetry/sample-reader.ts'
import { t } from '../../texts/texts.ts'

/** One line of a plot. */
export interface PlotLine {
  /** The source and the path of its numbers, such as `telemetry:velocity.linear_mps`. */
  readonly key: string
  readonly label: string
  readonly unit: string
  /** The factor of its numbers. */
  readonly factor: number
}

/** Lines that share an axis. */
export interface Plot {
  readonly id: string
  readonly title: string
  readonly lines: readonly PlotLine[]
}

/** The schemas that a robot declares for its messages. */
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
  const [speedKey, batteryKey] = [speedKeyOf(schemas.telemetry), batteryKeyOf(schemas.telemetry)]
  const commanded = SPEED_PATHS.map((path) => `control:${path}`).find((key) => all.includes(key))
  const line = (key: string, label?: string): PlotLine => ({
    ...describe(key, schemas),
    ...(label && { label }),
  })
  const has = (key: string | undefined): key is string => key !== undefined && all.includes(key)
  const speed = [
    ...(has(speedKey) ? [line(speedKey, t('replay.plots.measured'))] : []),
    ...(commanded ? [line(commanded, t('replay.plots.commanded'))] : []),
  ]
  const latency = [
    ['latency:operator_ms', t('replay.plots.operator')],
    ['latency:robot_ms', t('replay.plots.robot')],
  ] as const
  const plots: Plot[] = [
    { id: 'speed', title: t('replay.plots.speed'), lines: speed },
    {
      id: 'battery',
      title: t('replay.plots.battery'),
      lines: has(batteryKey) ? [{ ...share(batteryKey), label: t('replay.plots.battery') }] : [],
    },
    {
      id: 'latency',
      title: t('replay.plots.latency'),
      lines: latency
        .filter(([key]) => has(key))
        .map(([key, label]) => ({ key, label, unit: 'ms', factor: 1 })),
    },
    {
      id: 'commands',
      title: t('replay.plots.commands'),
      lines: all.filter((key) => key.startsWith('control:')).map((key) => line(key)),
    },
    {
      id: 'limit',
      title: t('replay.plots.limit'),
      lines: has('limits:speed_scale')
        ? [{ ...share('limits:speed_scale'), label: t('replay.plots.limit') }]
        : [],
    },
    ...telemetryPlots(all, new Set([speedKey, batteryKey]), schemas),
  ]
  return plots
    .filter(({ lines }) => lines.length > 0)
    .map((plot) => ({ ...plot, lines: plot.lines.slice(0, MAX_LINES) }))
}

const share = (key: string): PlotLine => ({ key, label: '', unit: '%', factor: 100 })

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

/** Returns where a sample has the pose; null for nowhere. */
export function posePathOf(telemetry: TelemetrySchema | null): readonly string[] | null {
  if (!telemetry) return ['pose']
  return [...kindsOf(telemetry)].find(({ kind }) => kind === 'pose')?.path ?? null
}

function speedKeyOf(telemetry: TelemetrySchema | null): string | undefined {
  if (!telemetry) return 'telemetry:velocity.linear_mps'
  const velocity = [...kindsOf(telemetry)].find(({ kind }) => kind === 'velocity')
  return velocity && `telemetry:${[...velocity.path, 'linear_mps'].join('.')}`
}

function batteryKeyOf(telemetry: TelemetrySchema | null): string | undefined {
  if (!telemetry) return 'telemetry:battery'
  const battery = [...kindsOf(telemetry)].find(({ kind }) => kind === 'battery')
  return battery && `telemetry:${battery.path.join('.')}`
}
