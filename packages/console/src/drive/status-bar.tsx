import { Badge, Group, Text } from '@mantine/core'
import { dropTexts, reasonText, type SessionStatus } from '@wheelhouse/protocol'
import { StatusBadge } from '../session/status-badge.tsx'
import { percent } from '../ui/percent.ts'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/use-ticker.ts'
import styles from './cockpit.module.css'
import type { Cockpit } from './cockpit.ts'
import type { LatencySample } from './latency-stats.ts'
import type { LinkView } from './operator-connection.ts'

const REFRESH_MS = 500

const links: Record<LinkView['phase'], { label: string; color: string }> = {
  connecting: { label: 'Connecting', color: 'gray.7' },
  online: { label: 'Linked', color: 'teal.9' },
  offline: { label: 'Reconnecting', color: 'orange.9' },
  ended: { label: 'No link', color: 'red.9' },
}

/** How things stand, at all times: session, robot, link, latency, age of what is shown, commands that were lost. */
export function StatusBar({ cockpit, status }: { cockpit: Cockpit; status: SessionStatus }) {
  const { operatorConnection } = cockpit
  const link = useStore(operatorConnection.link)
  const state = useStore(operatorConnection.state)
  const online = link.phase === 'online' && state !== null
  const { label, color } = links[link.phase]
  const stop = online ? state.stop : null
  return (
    <section className={styles.status} aria-label="State">
      <Group gap="xs" role="status">
        <StatusBadge status={online ? state.status : status} />
        <Badge color={color} variant="filled">
          {label}
        </Badge>
        <Badge color={online ? (state.robot_connected ? 'teal.9' : 'red.9') : 'gray.7'} variant="filled">
          {online ? (state.robot_connected ? 'Robot connected' : 'Robot away') : 'Robot unknown'}
        </Badge>
        {stop && !stop.latched && (
          <Badge color="gray.7" variant="filled">
            Halted: {reasonText(stop.reason)}
          </Badge>
        )}
      </Group>
      <Figures cockpit={cockpit} />
    </section>
  )
}

/** Figures grow old by themselves, and change too often to be rendered at every frame. */
function Figures({ cockpit: { operatorConnection } }: { cockpit: Cockpit }) {
  useTicker(REFRESH_MS)
  const { command, operator, robot, dropped, lastDrop } = operatorConnection.latencyStats.read()
  const lastMs = operatorConnection.telemetry.lastMs()
  const battery = operatorConnection.battery()
  return (
    <dl className={styles.figures}>
      <Figure name="You to gateway" value={latencyText(operator)} />
      <Figure name="Gateway to robot" value={latencyText(robot)} />
      <Figure name="Command to answer" value={latencyText(command)} />
      <Figure name="Last frame" value={lastMs === undefined ? 'none yet' : ago(performance.now() - lastMs)} />
      {battery && <Figure name="Battery" value={percent(battery.battery)} />}
      <Figure
        name="Dropped commands"
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
    ? 'not measured yet'
    : `${milliseconds(lastMs)}, p95 ${milliseconds(p95Ms)}`

const milliseconds = (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
const ago = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms ago` : `${(ms / 1000).toFixed(0)} s ago`)
