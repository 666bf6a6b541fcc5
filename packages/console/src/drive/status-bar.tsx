import { Badge, Group, Text } from '@mantine/core'
import { dropTexts, reasonText, type SessionStatus, speedLimitText } from '@wheelhouse/protocol'
import type { CongestionCause, OperatorLink } from '@wheelhouse/sdk'
import { StatusBadge } from '../session/status-badge.tsx'
import { percent } from '../ui/percent.ts'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/use-ticker.ts'
import styles from './cockpit.module.css'
import type { Cockpit } from './cockpit.ts'
import type { LatencySample } from './latency-stats.ts'
import type { LinkView } from './operator-connection.ts'

const REFRESH_MS = 500

const congestionTexts: Record<CongestionCause, string> = {
  unsent_bytes: 'commands wait to be sent',
  latency: 'answers take longer than usual',
  unanswered: 'no answer',
}

const transportTexts: Record<OperatorLink['transport'], string> = {
  data_channel: 'data channel (UDP)',
  websocket: 'WebSocket',
}

const links: Record<LinkView['phase'], { label: string; color: string }> = {
  connecting: { label: 'Connecting', color: 'gray.7' },
  online: { label: 'Connected', color: 'teal.9' },
  offline: { label: 'Reconnecting', color: 'orange.9' },
  ended: { label: 'Disconnected', color: 'red.9' },
}

/** Shows session, robot and connection state, latency, telemetry age and lost commands. */
export function StatusBar({ cockpit, status }: { cockpit: Cockpit; status: SessionStatus }) {
  const { operatorConnection } = cockpit
  const link = useStore(operatorConnection.link)
  const state = useStore(operatorConnection.state)
  const online = link.phase === 'online' && state !== null
  const { label, color } = links[link.phase]
  const stop = online ? state.stop : null
  const limitText = speedLimitText(useStore(operatorConnection.limits))
  const { cause, maxRateHz } = useStore(operatorConnection.congestion)
  return (
    <section className={styles.status} aria-label="Status">
      <Group gap="xs" role="status">
        <StatusBadge status={online ? state.status : status} />
        <Badge color={color} variant="filled">
          {label}
        </Badge>
        <Badge color={online ? (state.robot_connected ? 'teal.9' : 'red.9') : 'gray.7'} variant="filled">
          {online ? (state.robot_connected ? 'Robot connected' : 'Robot offline') : 'Robot status unknown'}
        </Badge>
        {stop && !stop.latched && (
          <Badge color="gray.7" variant="filled">
            Holding: {reasonText(stop.reason)}
          </Badge>
        )}
        {online && limitText && (
          <Badge color="orange.9" variant="filled">
            {limitText}
          </Badge>
        )}
        {online && cause && (
          <Badge color="orange.9" variant="filled">
            Connection congested: {congestionTexts[cause]}
            {maxRateHz !== null && `, ${maxRateHz} commands a second`}
          </Badge>
        )}
      </Group>
      <Figures cockpit={cockpit} />
    </section>
  )
}

/** Refreshes on a timer, because the figures age without events and change too often to render on every frame. */
function Figures({ cockpit: { operatorConnection } }: { cockpit: Cockpit }) {
  useTicker(REFRESH_MS)
  const { command, operator, robot, dropped, lastDrop } = operatorConnection.latencyStats.read()
  const lastMs = operatorConnection.telemetry.lastMs()
  const battery = operatorConnection.battery()
  return (
    <dl className={styles.figures}>
      <Figure name="Your network" value={latencyText(operator)} />
      <Figure name="Robot network" value={latencyText(robot)} />
      <Figure name="Transport" value={transportTexts[operatorConnection.transport()]} />
      <Figure name="Command round trip" value={latencyText(command)} />
      <Figure
        name="Telemetry age"
        value={lastMs === undefined ? 'no data yet' : ageText(performance.now() - lastMs)}
      />
      {battery && <Figure name="Battery" value={percent(battery.battery)} />}
      <Figure
        name="Lost commands"
        value={lastDrop === undefined ? '0' : `${dropped}, last: ${dropTexts[lastDrop]}`}
      />
    </dl>
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <Text component="dt" size="xs" c="dimmed">
      {name}
    </Text>
    <Text component="dd" size="sm" m={0}>
      {value}
    </Text>
  </div>
)

const latencyText = ({ lastMs, p95Ms }: LatencySample) =>
  lastMs === undefined || p95Ms === undefined
    ? 'no data yet'
    : `${milliseconds(lastMs)}, p95 ${milliseconds(p95Ms)}`

const milliseconds = (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
const ageText = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(0)} s`)
