import { dropTexts } from '@wheelhouse/protocol'
import type { OperatorLink } from '@wheelhouse/sdk'
import { type ReactNode, useId, useState } from 'react'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/use-ticker.ts'
import { latencyMs } from './figure-texts.ts'
import type { LatencySample } from './latency-stats.ts'
import type { OperatorConnection } from './operator-connection.ts'
import styles from './top-bar.module.css'

const REFRESH_MS = 500
/** From this latency on, driving needs care. */
const SLOW_MS = 150
/** From this latency on, the operator sees too late what the robot does. */
const TOO_SLOW_MS = 400

const transportTexts: Record<OperatorLink['transport'], string> = {
  data_channel: 'data channel (UDP)',
  websocket: 'WebSocket',
}

/** Shows the usual round trip of commands as one coloured figure, and on demand the details of the connection. */
export function Latency({ operatorConnection }: { operatorConnection: OperatorConnection }) {
  useTicker(REFRESH_MS)
  const isOnline = useStore(operatorConnection.link).phase === 'online'
  const ms = isOnline ? operatorConnection.latencyStats.commandDelayMs() : undefined
  return (
    <LatencyFigure ms={ms}>
      <Details operatorConnection={operatorConnection} />
    </LatencyFigure>
  )
}

/** Renders a latency, by colour good, fair or bad. Pressed, it shows its children. @param props.ms undefined while unknown */
export function LatencyFigure({ ms, children }: { ms: number | undefined; children?: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <button
        type="button"
        className={styles.figure}
        data-testid="latency"
        data-level={ms === undefined ? 'unknown' : levelOf(ms)}
        title="Latency"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {ms === undefined ? '– ms' : latencyMs(ms)}
      </button>
      <div id={id} className={styles.details} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </>
  )
}

const levelOf = (ms: number) => (ms >= TOO_SLOW_MS ? 'bad' : ms >= SLOW_MS ? 'fair' : 'good')

/** Refreshes on a timer, because the figures age without events and change too often to render on every frame. */
function Details({ operatorConnection }: { operatorConnection: OperatorConnection }) {
  useTicker(REFRESH_MS)
  const isRobotConnected = useStore(operatorConnection.state)?.robot_connected
  const { command, operator, robot, dropped, lastDrop } = operatorConnection.latencyStats.read()
  const lastMs = operatorConnection.telemetry.lastMs()
  return (
    <dl className={styles.detailList}>
      <Figure name="Robot" value={isRobotConnected ? 'Robot connected' : 'Robot offline'} />
      <Figure name="Your network" value={latencyText(operator)} />
      <Figure name="Robot network" value={latencyText(robot)} />
      <Figure name="Transport" value={transportTexts[operatorConnection.transport()]} />
      <Figure name="Command round trip" value={latencyText(command)} />
      <Figure
        name="Telemetry age"
        value={lastMs === undefined ? 'no data yet' : ageText(performance.now() - lastMs)}
      />
      <Figure
        name="Lost commands"
        value={lastDrop === undefined ? '0' : `${dropped}, last: ${dropTexts[lastDrop]}`}
      />
    </dl>
  )
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

const latencyText = ({ lastMs, p95Ms }: LatencySample) =>
  lastMs === undefined || p95Ms === undefined
    ? 'no data yet'
    : `${milliseconds(lastMs)}, p95 ${milliseconds(p95Ms)}`

const milliseconds = (ms: number) => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
const ageText = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(0)} s`)
