import type { SessionStatus } from '@wheelhouse/protocol'
import type { OperatorLink } from '@wheelhouse/sdk'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { clockText, decimals, money, timeOfDay } from '../base/format.ts'
import { useStore } from '../base/store.ts'
import { useNow, useTicker } from '../base/time.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { estimate, useBillableSeconds } from '../session/session-time.ts'
import { dropTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import type { StreamFigures } from '../video/player.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import type { VideoWatch } from '../video/watch-video.ts'
import { latencyMs, wholeMinutes } from './figure-texts.ts'
import type { BatteryReading, LatencySample } from './measurements.ts'
import type { OperatorConnection } from './operator-connection.ts'
import { clockOf, type SessionClock } from './session-clock.ts'
import styles from './top-bar.module.css'

const LATENCY_REFRESH_MS = 500
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
  useTicker(LATENCY_REFRESH_MS)
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
  useTicker(LATENCY_REFRESH_MS)
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

const batteryLevels = { good: 'good', low: 'fair', critical: 'bad' } as const
const arrows: Record<BatteryReading['trend'], string> = {
  charging: '↑',
  draining: '↓',
  level: '',
  unknown: '',
}

/** Shows the charge of the robot, its trend and, while it drains, how long it lasts. */
export const Battery = (props: { operatorConnection: OperatorConnection; isSilent: boolean }) => (
  <BatteryFigure reading={useStore(props.operatorConnection.battery)} isSilent={props.isSilent} />
)

interface FigureProps {
  /** Undefined while the charge is unknown. */
  readonly reading: BatteryReading | undefined
  /** Whether nothing has arrived for a second, so that this is only the last known charge. */
  readonly isSilent?: boolean
}

/** Renders a charge. */
export function BatteryFigure({ reading, isSilent = false }: FigureProps) {
  return (
    <span
      className={styles.figure}
      data-testid="battery"
      data-level={reading && !isSilent ? batteryLevels[reading.level] : 'unknown'}
      data-stale={(isSilent && reading !== undefined) || undefined}
      title={textOf(reading)}
    >
      <span className={styles.batteryIcon} aria-hidden="true" />
      {reading ? percent(reading.charge) : t('drive.battery.none')}
      {reading && <span aria-hidden="true">{arrows[reading.trend]}</span>}
      {reading?.minutesLeft !== undefined && (
        <span className={styles.minor}>~{wholeMinutes(reading.minutesLeft)}</span>
      )}
    </span>
  )
}

function textOf(reading: BatteryReading | undefined): string {
  if (reading === undefined) return t('drive.battery.unknown')
  if (reading.level === 'critical') return t('drive.battery.critical')
  if (reading.level === 'low') return t('drive.battery.low')
  return reading.trend === 'charging' ? t('drive.battery.charging') : t('drive.battery.label')
}

const CAMERA_REFRESH_MS = 1_000

/** Renders how the pictures of each camera arrive. Cameras without WebRTC have no figures. */
export function CameraFigures({ cameras }: { cameras: readonly WatchedCamera[] }) {
  return cameras.map(({ name, ...camera }) => <OneCamera key={name} {...camera} />)
}

function OneCamera({ label, watch }: Omit<WatchedCamera, 'name'>) {
  const figures = useStreamFigures(watch)
  return figures && <Figure name={t('cameras.name', { camera: label })} value={figuresText(figures)} />
}

function useStreamFigures(watch: VideoWatch): StreamFigures | undefined {
  const [figures, setFigures] = useState<StreamFigures>()
  useEffect(() => {
    let isClosed = false
    const read = async () => {
      const newest = await watch.state.get().playing.readFigures?.()
      if (!isClosed) setFigures(newest)
    }
    const timer = setInterval(() => void read().catch(() => undefined), CAMERA_REFRESH_MS)
    return () => {
      isClosed = true
      clearInterval(timer)
    }
  }, [watch])
  return figures
}

const figuresText = ({ latencyMs, framesPerSecond, bitsPerSecond, lostShare, freezes }: StreamFigures) =>
  [
    ...(latencyMs === undefined ? [] : [t('drive.latency.milliseconds', { ms: Math.round(latencyMs) })]),
    t('cameras.frames', { frames: Math.round(framesPerSecond) }),
    t('cameras.bitrate', { megabits: decimals(bitsPerSecond / 1e6, 1) }),
    t('cameras.lost', { share: decimals(lostShare * 100, 1) }),
    t('cameras.freezes', { freezes }),
  ].join(' · ')

const clockLevels = { running: 'good', soon: 'fair', over: 'bad' } as const

/** Shows how long the session has lasted, its planned length, and a warning when it ends soon. */
export function SessionTime({ session }: { session: SessionDetail }) {
  const clock = clockOf(session, useNow())
  const planned = clock?.plannedMs
  return (
    <span
      className={styles.figure}
      data-testid="session-clock"
      data-level={clock ? clockLevels[clock.phase] : 'unknown'}
      title={titleOf(session, clock)}
    >
      {clock ? clockText(clock.elapsedMs / 1_000) : '–'}
      {planned !== undefined && <span className={styles.minor}> / {clockText(planned / 1_000)}</span>}
    </span>
  )
}

function titleOf({ planned_end }: SessionDetail, clock: SessionClock | undefined): string {
  if (!clock || planned_end === null) return t('drive.time.noEnd')
  const end = timeOfDay(new Date(planned_end))
  return clock.phase === 'over' ? t('drive.time.over', { time: end }) : t('drive.time.end', { time: end })
}

interface EarningsProps {
  readonly session: SessionDetail
  /** The newest known status. */
  readonly status: SessionStatus
  /** When the session was loaded, in Unix milliseconds. */
  readonly fetchedAtMs: number
  /** Whether nothing has arrived for a second. */
  readonly isSilent: boolean
}

/** Shows an estimate of the earnings so far; to an owner at the controls, of the cost. */
export const Earnings = (props: EarningsProps) => (
  <EarningsFigure session={props.session} seconds={useBillableSeconds(props)} isSilent={props.isSilent} />
)

/** Renders the earnings for this billed time. */
export function EarningsFigure(props: { session: SessionDetail; seconds: number; isSilent?: boolean }) {
  const { session, seconds, isSilent = false } = props
  const rateCents = session.rate_cents_per_minute
  if (rateCents === null) return null
  const { cents } = estimate(seconds, rateCents)
  const share = 'operator_share_percent' in session ? (session.operator_share_percent ?? 0) : undefined
  return (
    <span
      className={`${styles.figure} ${styles.earnings}`}
      data-testid="earnings"
      data-stale={isSilent || undefined}
      title={share === undefined ? t('drive.time.cost') : t('drive.time.earned')}
    >
      {money(share === undefined ? cents : Math.floor((cents * share) / 100))}
    </span>
  )
}
