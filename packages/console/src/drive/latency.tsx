import type { OperatorLink } from '@wheelhouse/sdk'
import { type ReactNode, useId, useState } from 'react'
import { dropTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { decimals } from '../ui/format.ts'
import { useStore } from '../ui/store.ts'
import { useTicker } from '../ui/time.tsx'
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
  data_channel: t('drive.latency.dataChannel'),
  websocket: t('drive.latency.webSocket'),
}

/** Shows the usual round trip of commands as one coloured figure, and on demand the details of the connection. */
export function Latency(props: {
  operatorConnection: OperatorConnection
  /** Whether nothing has arrived for a second. */
  isSilent: boolean
  /** Further details. */
  children?: ReactNode
}) {
  const { operatorConnection, isSilent, children } = props
  useTicker(REFRESH_MS)
  const isOnline = useStore(operatorConnection.link).phase === 'online'
  const ms = isOnline && !isSilent ? operatorConnection.latencyStats.commandDelayMs() : undefined
  return (
    <LatencyFigure ms={ms}>
      <Details operatorConnection={operatorConnection}>{children}</Details>
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
        title={t('drive.latency.label')}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {ms === undefined ? t('drive.latency.none') : latencyMs(ms)}
      </button>
      <div id={id} className={styles.details} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </>
  )
}

const levelOf = (ms: number) => (ms >= TOO_SLOW_MS ? 'bad' : ms >= SLOW_MS ? 'fair' : 'good')

/** Refreshes on a timer, because the figures age without events and change too often to render on every frame. */
function Details(props: { operatorConnection: OperatorConnection; children: ReactNode }) {
  const { operatorConnection, children } = props
  useTicker(REFRESH_MS)
  const isRobotConnected = useStore(operatorConnection.state)?.robot_connected
  const { command, operator, robot, held, dropped, lastDrop } = operatorConnection.latencyStats.read()
  const lastMs = operatorConnection.telemetry.lastMs()
  return (
    <dl className={styles.detailList}>
      <Figure
        name={t('drive.latency.robot')}
        value={isRobotConnected ? t('drive.latency.connected') : t('drive.latency.offline')}
      />
      <Figure name={t('drive.latency.yourNetwork')} value={latencyText(operator)} />
      <Figure name={t('drive.latency.robotNetwork')} value={latencyText(robot)} />
      <Figure name={t('drive.latency.transport')} value={transportTexts[operatorConnection.transport()]} />
      <Figure name={t('drive.latency.roundTrip')} value={latencyText(command)} />
      <Figure
        name={t('drive.latency.telemetryAge')}
        value={lastMs === undefined ? t('drive.latency.noData') : ageText(performance.now() - lastMs)}
      />
      <Figure
        name={t('drive.latency.lost')}
        value={
          lastDrop === undefined
            ? '0'
            : t('drive.latency.notDelivered', { held, dropped, reason: dropTexts[lastDrop] })
        }
      />
      {children}
    </dl>
  )
}

/** Renders one detail of the connection. */
export const Figure = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

const latencyText = ({ lastMs, p95Ms }: LatencySample) =>
  lastMs === undefined || p95Ms === undefined
    ? t('drive.latency.noData')
    : t('drive.latency.sample', { last: milliseconds(lastMs), p95: milliseconds(p95Ms) })

const milliseconds = (ms: number) => t('drive.latency.milliseconds', { ms: decimals(ms, ms < 10 ? 1 : 0) })
const ageText = (ms: number) =>
  ms < 1_000
    ? t('drive.latency.milliseconds', { ms: Math.round(ms) })
    : t('drive.latency.seconds', { seconds: Math.round(ms / 1_000) })
