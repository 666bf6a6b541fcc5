import { dateTime } from '../../ui/format.ts'
import type { ConnectedSpan, RobotHealth } from './health-series.ts'

const WIDTH = 720
const HEIGHT = 160
const BATTERY_HEIGHT = 120
const LINK_TOP = 132
const LINK_HEIGHT = 10

/**
 * Draws charge and connection of the last day, with a line for every stop. The page lists the same values as text, so
 * the picture is hidden from screen readers.
 */
export function HealthChart(props: {
  fromMs: number
  toMs: number
  spans: readonly ConnectedSpan[]
  incidents: RobotHealth['incidents']
}) {
  const { fromMs, toMs, spans, incidents } = props
  const x = (ms: number) => Math.max(0, Math.min(WIDTH, ((ms - fromMs) / (toMs - fromMs)) * WIDTH))
  const y = (battery: number) => (1 - battery) * BATTERY_HEIGHT
  const stops = incidents.filter(({ type }) => type === 'session.stopped')
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" role="presentation" aria-hidden="true">
      {[0, 0.5, 1].map((battery) => (
        <line
          key={battery}
          x1={0}
          x2={WIDTH}
          y1={y(battery)}
          y2={y(battery)}
          stroke="var(--mantine-color-default-border)"
        />
      ))}
      <rect
        y={LINK_TOP}
        width={WIDTH}
        height={LINK_HEIGHT}
        fill="var(--mantine-color-default-border)"
        opacity={0.5}
      />
      {spans.map((span) => (
        <g key={span.fromMs}>
          <rect
            x={x(span.fromMs)}
            width={Math.max(1, x(span.toMs) - x(span.fromMs))}
            y={LINK_TOP}
            height={LINK_HEIGHT}
            fill="var(--mantine-color-teal-8)"
          />
          <polyline
            points={span.charges.map(({ atMs, battery }) => `${x(atMs)},${y(battery)}`).join(' ')}
            fill="none"
            stroke="var(--mantine-color-blue-6)"
            strokeWidth={2}
          />
        </g>
      ))}
      {stops.map(({ at, session_id }) => (
        <line
          key={`${session_id} ${at}`}
          x1={x(Date.parse(at))}
          x2={x(Date.parse(at))}
          y1={0}
          y2={LINK_TOP + LINK_HEIGHT}
          stroke="var(--mantine-color-red-8)"
          strokeWidth={2}
        >
          <title>{dateTime(at)}</title>
        </line>
      ))}
    </svg>
  )
}
