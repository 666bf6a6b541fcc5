import { Box, Group, Stack, VisuallyHidden } from '@mantine/core'
import type { AutonomyMode, SessionStatus } from '@wheelhouse/protocol'
import { type ComponentType, type ReactNode, useEffect, useId, useState } from 'react'
import { clockText, decimals, money, timeOfDay } from '../base/format.ts'
import {
  IconBattery,
  IconChevronLeft,
  IconDevice,
  IconEye,
  IconGamepad,
  IconHandStop,
  IconLock,
  IconMenu,
  IconPause,
  IconRoute,
  IconSteeringWheel,
  IconUnplugged,
} from '../base/icons.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { useNow, useTicker } from '../base/time.tsx'
import { ageText, type Freshness } from '../freshness/freshness.ts'
import { type ReadAges, useFreshness } from '../freshness/use-freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { amountOf, useBillableSeconds } from '../session/session-time.ts'
import { Shape } from '../status/shapes.tsx'
import { type RobotFacts, type Trust, trustOf, trustShapes } from '../status/trust.ts'
import { sourceTexts, trustTexts } from '../status/trust-badge.tsx'
import { modeTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import type { StreamFigures } from '../video/player.ts'
import type { WatchedCamera } from '../video/use-cameras.ts'
import type { VideoWatch } from '../video/watch-video.ts'
import styles from './bar.module.css'
import { wholeMinutes } from './figure-texts.ts'
import type { BatteryReading } from './measurements.ts'
import type { Holder } from './robot-view.ts'
import { clockOf, type SessionClock } from './session-clock.ts'

const ICON_SIZE = '1.2em'

type Icon = ComponentType<{ size?: string }>

const holders: Record<Holder, readonly [Icon, text: string]> = {
  driving: [IconSteeringWheel, t('drive.holder.driving')],
  held: [IconLock, t('drive.holder.held')],
  stopping: [IconHandStop, t('drive.holder.stopping')],
  stopped: [IconHandStop, t('drive.holder.stopped')],
  paused: [IconPause, t('drive.holder.paused')],
  unconnected: [IconUnplugged, t('drive.holder.unconnected')],
  elsewhere: [IconDevice, t('drive.holder.elsewhere')],
}

/** Shows the robot, the way back, and who or what holds control. */
export function Identity(props: {
  session: SessionDetail
  holder: Holder
  controller: string | undefined
  isLive: boolean
  isWatching: boolean
  /** Whether the robot drives by itself; undefined while that is unknown. */
  mode?: AutonomyMode | undefined
  gamepad?: string | undefined
}) {
  const { session, holder, controller, isLive, isWatching, mode, gamepad } = props
  const isOther =
    controller !== undefined && (holder === 'driving' || holder === 'held' || holder === 'paused')
  const drivingIcon =
    isWatching || isOther ? IconEye : gamepad === undefined ? IconSteeringWheel : IconGamepad
  const [icon, text] = holders[holder]
  const HolderIcon = holder === 'driving' ? drivingIcon : icon
  return (
    <div className={styles.identity} data-hud="identity">
      <LinkAnchor
        to="/sessions/$sessionId"
        params={{ sessionId: session.id }}
        className={styles.back ?? ''}
        aria-label={isWatching ? t('drive.watch.leave') : t('drive.topBar.leave')}
        c="inherit"
      >
        <IconChevronLeft size="1.6em" />
      </LinkAnchor>
      <h1 className={styles.name}>{session.robot_name}</h1>
      <span
        className={styles.holder}
        data-live={isLive && holder === 'driving' && !isOther}
        data-testid={isWatching ? 'watching' : undefined}
        title={isWatching ? t('drive.watch.mark') : gamepad && t('drive.bar.gamepad', { gamepad })}
        role="status"
      >
        <HolderIcon size={ICON_SIZE} />
        {isOther
          ? controller
          : isWatching && holder === 'driving'
            ? t('drive.holder.operator', { operator: session.operator_name })
            : text}
      </span>
      {mode && modeTexts[mode] && <ModeMark text={modeTexts[mode]} />}
    </div>
  )
}

/** Says that a robot drives by itself, or helps who drives it. */
const ModeMark = ({ text }: { text: string }) => (
  <span className={styles.mode} data-testid="mode" role="status">
    <IconRoute size={ICON_SIZE} />
    {text}
  </span>
)

const FIGURE_REFRESH_MS = 500
/** A battery that lasts longer is no concern, and the estimate is coarse. */
const SHOWN_MINUTES = 180

/** Shows how far the page can be trusted: shape, word and age of the oldest source. Pressed, it lists all sources. */
export function TrustChip(props: {
  readAges: ReadAges
  robot: RobotFacts
  /** The connection in one word, for screen readers. */
  linkText: string
  children: ReactNode
}) {
  const { readAges, robot, linkText, children } = props
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const freshness = useFreshness(readAges)
  // What the robot does stands beside it: the chip says what the picture is worth.
  const trust = trustOf(freshness, { ...robot, isStopped: false, isPaused: false })
  return (
    <div className={styles.trust} data-hud="trust">
      <button
        type="button"
        className={styles.chip}
        data-testid="latency"
        title={t('drive.latency.label')}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span className={styles.pill} data-state={trust.state}>
          <Shape name={trustShapes[trust.state]} />
          <span data-testid="freshness" data-state={trust.state} role="status">
            {trustTexts[trust.state]}
          </span>
          <span className={styles.age}>
            {trust.state === 'LIVE' ? <LiveAge readAges={readAges} /> : ageOf(trust, freshness)}
          </span>
        </span>
      </button>
      {/* For screen readers: the chip shows a connection that is lost. */}
      <VisuallyHidden role="status">{linkText}</VisuallyHidden>
      <div id={id} className={styles.details} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </div>
  )
}

/** Returns what is too old, and how old it is; undefined where an age says nothing. */
function ageOf({ ageMs, cause }: Trust, { isPictureUnknown }: Freshness): string | undefined {
  if (isPictureUnknown && cause === 'picture') return t('drive.trust.unknown')
  if (ageMs === undefined) return undefined
  return t('drive.trust.age', { source: cause ? sourceTexts[cause] : '', age: ageText(ageMs) }).trim()
}

const SAMPLE_MS = 50

/** Shows the greatest age of the last half second: the present one changes too fast to be read. */
function LiveAge({ readAges }: { readAges: ReadAges }) {
  const [shownMs, setShownMs] = useState<number>()
  useEffect(() => {
    let greatestMs = 0
    let samples = 0
    const timer = setInterval(() => {
      const { pictureMs, telemetryMs = 0, linkMs } = readAges()
      greatestMs = Math.max(greatestMs, typeof pictureMs === 'number' ? pictureMs : 0, telemetryMs, linkMs)
      samples += 1
      if (samples * SAMPLE_MS < FIGURE_REFRESH_MS) return
      setShownMs(greatestMs)
      greatestMs = samples = 0
    }, SAMPLE_MS)
    return () => clearInterval(timer)
  }, [readAges])
  return shownMs === undefined ? null : ageText(shownMs)
}

export type DetailTexts = readonly (readonly [name: string, value: string])[]

/** Lists details of the connection, refreshed on a timer, because they age without events. */
export function Details({ read }: { read: () => DetailTexts }) {
  useTicker(FIGURE_REFRESH_MS)
  return (
    <DetailList>
      {read().map(([name, value]) => (
        <Detail key={name} name={name} value={value} />
      ))}
    </DetailList>
  )
}

const DetailList = ({ children }: { children: ReactNode }) => (
  <Stack component="dl" gap="0.3rem" m={0} fz="0.875rem">
    {children}
  </Stack>
)

const Detail = ({ name, value }: { name: string; value: string }) => (
  <Group justify="space-between" align="stretch" gap="1rem" wrap="nowrap">
    <Box component="dt" c="var(--ink-2)">
      {name}
    </Box>
    <Box component="dd" m={0} ta="end">
      {value}
    </Box>
  </Group>
)

const CAMERA_REFRESH_MS = 1_000

/** Renders how the pictures of each camera arrive. Cameras without WebRTC have no figures. */
export const CameraDetails = ({ cameras }: { cameras: readonly WatchedCamera[] }) => (
  <DetailList>
    {cameras.map(({ name, ...camera }) => (
      <OneCamera key={name} {...camera} />
    ))}
  </DetailList>
)

function OneCamera({ label, watch }: Omit<WatchedCamera, 'name'>) {
  const figures = useStreamFigures(watch)
  return figures && <Detail name={t('cameras.name', { camera: label })} value={figuresText(figures)} />
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

interface FiguresProps {
  readonly session: SessionDetail
  readonly status: SessionStatus
  readonly fetchedAtMs: number
  readonly battery: BatteryReading | undefined
  /** Whether nothing has arrived for a second, so that the figures are only the last known ones. */
  readonly isSilent: boolean
  /** Whether the robot is lost, so that its charge is only the last known one. */
  readonly isLost: boolean
  readonly recording: ReactNode
  /** The mark of the sound, and what it says about speech. */
  readonly sound?: ReactNode
}

/** Shows the session: recording, time, earnings or cost, battery. */
export const SessionFigures = (props: FiguresProps) => (
  <SessionFiguresView {...props} billedSeconds={useBillableSeconds(props)} />
)

export const SessionFiguresView = (
  props: Omit<FiguresProps, 'status' | 'fetchedAtMs'> & { billedSeconds: number },
) => (
  <div className={styles.session} data-hud="session">
    {props.sound}
    {props.recording}
    <SessionTime session={props.session} />
    <Earnings session={props.session} seconds={props.billedSeconds} isSilent={props.isSilent} />
    <Battery reading={props.battery} isSilent={props.isSilent || props.isLost} />
  </div>
)

const batteryLevels = { good: 'good', low: 'fair', critical: 'bad' } as const

function Battery({ reading, isSilent }: { reading: BatteryReading | undefined; isSilent: boolean }) {
  return (
    <span
      className={styles.figure}
      data-testid="battery"
      data-level={reading && !isSilent ? batteryLevels[reading.level] : 'unknown'}
      data-stale={(isSilent && reading !== undefined) || undefined}
      title={batteryTitle(reading)}
    >
      <IconBattery size={ICON_SIZE} />
      <b>{reading ? percent(reading.charge) : t('drive.battery.none')}</b>
      {reading?.minutesLeft !== undefined && reading.minutesLeft < SHOWN_MINUTES && (
        <span className={styles.minor}>~{wholeMinutes(reading.minutesLeft)}</span>
      )}
    </span>
  )
}

function batteryTitle(reading: BatteryReading | undefined): string {
  if (reading === undefined) return t('drive.battery.unknown')
  if (reading.level === 'critical') return t('drive.battery.critical')
  if (reading.level === 'low') return t('drive.battery.low')
  return reading.trend === 'charging' ? t('drive.battery.charging') : t('drive.battery.label')
}

const clockLevels = { running: 'good', soon: 'fair', over: 'bad' } as const

function SessionTime({ session }: { session: SessionDetail }) {
  const clock = clockOf(session, useNow())
  const planned = clock?.plannedMs
  return (
    <span
      className={styles.figure}
      data-testid="session-clock"
      data-level={clock ? clockLevels[clock.phase] : 'unknown'}
      title={timeTitle(session, clock)}
    >
      <b>{clock ? clockText(clock.elapsedMs / 1_000) : '–'}</b>
      {planned !== undefined && <span className={styles.minor}>/ {clockText(planned / 1_000)}</span>}
    </span>
  )
}

function timeTitle({ planned_end }: SessionDetail, clock: SessionClock | undefined): string {
  if (!clock || planned_end === null) return t('drive.time.noEnd')
  const end = timeOfDay(new Date(planned_end))
  return clock.phase === 'over' ? t('drive.time.over', { time: end }) : t('drive.time.end', { time: end })
}

function Earnings(props: { session: SessionDetail; seconds: number; isSilent: boolean }) {
  const amount = amountOf(props.session, props.seconds)
  return (
    amount && (
      <span
        className={styles.figure}
        data-testid="earnings"
        data-stale={props.isSilent || undefined}
        title={amount.isEarned ? t('drive.time.earned') : t('drive.time.cost')}
      >
        {money(amount.cents)}
      </span>
    )
  )
}

/** Opens the commands. @param props.waiting what waits for an answer behind the call */
export const MenuButton = (props: { waiting: number; isOpen: boolean; onOpen: () => void }) => (
  <button
    type="button"
    className={styles.menu}
    data-hud="menu"
    data-testid="menu"
    aria-haspopup="dialog"
    aria-expanded={props.isOpen}
    aria-keyshortcuts="Control+K"
    onClick={props.onOpen}
  >
    <VisuallyHidden>{t('drive.menu.open')}</VisuallyHidden>
    {props.waiting > 0 && <span className={styles.waiting}>{props.waiting}</span>}
    <IconMenu size="1.4em" />
    <span className={styles.key} aria-hidden="true">
      {t('drive.menu.key')}
    </span>
  </button>
)

export const Bar = ({ children, end }: { children: ReactNode; end: ReactNode }) => (
  <>
    <div className={styles.ground} />
    <section style={{ display: 'contents' }} aria-label={t('drive.topBar.status')}>
      {children}
      <div className={styles.right}>{end}</div>
    </section>
  </>
)
