import { memo, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { clockText, timeOfDay } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { useNow } from '../base/time.tsx'
import type { Freshness } from '../freshness/freshness.ts'
import { type ReadAges, useFreshness } from '../freshness/use-freshness.ts'
import { usePlatform } from '../platform/platform.ts'
import { useConnection } from '../platform/use-live.ts'
import { RecordingMarkView } from '../recording/recording-mark.tsx'
import { type LiveRobot, RobotStateLabel } from '../status/live-robots.tsx'
import { StopSign } from '../status/shapes.tsx'
import { type RobotFacts, type TrustState, trustOf } from '../status/trust.ts'
import { TrustBadgeView } from '../status/trust-badge.tsx'
import { type FleetStop, type StopResult, stopResultText } from '../stop/fleet-stop.ts'
import { HoldButton } from '../stop/hold-button.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { useReadAges } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import type { PictureSlots } from './picture-slots.ts'
import type { SectionName } from './sections.ts'
import styles from './tile.module.css'
import { TilePicture } from './tile-picture.tsx'

/** How long the stop of one robot must be held. */
const HOLD_MS = 600
/** A picture must have been late, or live again, for so long that its tile does not move back and forth. */
const SETTLED_MS = 2_000

interface Props {
  readonly robot: LiveRobot
  readonly section: SectionName
  /** The key that opens it, 1 to 9; undefined for later tiles. */
  readonly number: number | undefined
  readonly slots: PictureSlots
  readonly fleetStop: FleetStop
  /** Receives what the tile has seen for a while. Stable between renders. */
  readonly onSeen: (robotId: string, state: TrustState) => void
}

/** Shows one live robot. */
export const LiveTile = memo(function LiveTile({ robot, section, number, slots, fleetStop, onSeen }: Props) {
  const { name, camera, stream_url, session } = robot
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, undefined)
  const stopResult = useSyncExternalStore(fleetStop.results.subscribe, () =>
    session === null ? undefined : fleetStop.results.get().get(session.id),
  )
  const isUnknown = useConnection() !== 'live'
  useEffect(() => {
    // What failed while the platform was away is tried again at once.
    if (!isUnknown) watch?.reconnected()
  }, [isUnknown, watch])
  return (
    <LiveTileView
      robot={robot}
      section={section}
      number={number}
      isUnknown={isUnknown}
      picture={<TilePicture robot={robot} slots={slots} isIdle={session === null} onWatch={setWatch} />}
      trust={
        <LiveTrust
          robot={robot}
          readAges={readAges}
          isUnknown={isUnknown}
          hasPicture={camera !== null || stream_url !== ''}
          onSeen={onSeen}
        />
      }
      stopResult={stopResult}
      onStop={() => session && fleetStop.stop([{ sessionId: session.id, robotName: name }])}
    />
  )
})

interface TrustProps {
  readonly robot: LiveRobot
  readonly isUnknown: boolean
  readonly hasPicture: boolean
}

/** Only this part of a tile is rendered when the age of its picture changes. */
function LiveTrust(props: TrustProps & { readAges: ReadAges; onSeen?: Props['onSeen'] }) {
  const { robot, readAges, onSeen } = props
  const freshness = useFreshness(readAges)
  const { state } = trustOf(awaited(freshness), factsOf(robot))
  useEffect(() => {
    const timer = setTimeout(() => onSeen?.(robot.id, state), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [robot.id, state, onSeen])
  return <TileTrust {...props} freshness={freshness} />
}

/** Before the first picture nothing is blind: the page waits for it. */
const awaited = (freshness: Freshness): Freshness =>
  freshness.oldest === 'firstPicture' ? { ...freshness, state: 'CONNECTING' } : freshness

const factsOf = ({ state }: LiveRobot): RobotFacts => ({
  isConnected: state !== 'LOST',
  isStopped: state === 'STOPPED',
  isPaused: state === 'PAUSED',
})

/** Shows the state of a tile, as the chip and as the rim of its picture. A robot without a picture has only what the hub knows. */
export function TileTrust(props: TrustProps & { freshness: Freshness }) {
  const { robot, isUnknown, hasPicture } = props
  const { state: robotState } = robot
  const nowMs = useNow()
  const freshness = awaited(props.freshness)
  const { state } = trustOf(freshness, factsOf(robot))
  const isPlain =
    robotState === 'READY' ? state === 'LIVE' || state === 'CONNECTING' : !hasPicture && state === 'LIVE'
  return (
    <>
      <div className={styles.rim} data-state={isUnknown ? 'UNKNOWN' : state} />
      <div className={styles.chip}>
        {isUnknown || isPlain ? (
          <span data-testid="freshness" data-state={isUnknown ? 'UNKNOWN' : robotState} role="status">
            <RobotStateLabel state={robotState} isUnknown={isUnknown} isOnPicture />
          </span>
        ) : (
          <TrustBadgeView
            freshness={freshness}
            robot={factsOf(robot)}
            isOnPicture
            detail={stopDetail(robot, nowMs)}
          />
        )}
      </div>
    </>
  )
}

/** Returns who stopped a robot and when, or since when it is paused. */
function stopDetail({ session, state }: LiveRobot, nowMs: number): string | undefined {
  const stop = session?.stop
  if (stop) {
    const time = timeOfDay(new Date(stop.at))
    return stop.by_name === null ? time : t('live.tile.stopDetail', { name: stop.by_name, time })
  }
  const isPaused = state === 'PAUSED' && session?.paused_at
  return isPaused ? clockText((nowMs - Date.parse(isPaused)) / 1_000) : undefined
}

interface LiveTileViewProps {
  readonly robot: LiveRobot
  readonly section?: SectionName
  readonly number?: number | undefined
  /** Whether the page has no connection to the hub, so that it does not know what the robot does. */
  readonly isUnknown?: boolean
  /** The picture of the robot, or why there is no picture. */
  readonly picture: ReactNode
  /** The state of the robot and of its picture: `TileTrust`. */
  readonly trust: ReactNode
  /** The result of the last stop that was requested here. */
  readonly stopResult?: StopResult | undefined
  readonly onStop: () => void
}

/** Renders the tile of one live robot: picture, state, operator, clock, battery, stop and one action. */
export function LiveTileView(props: LiveTileViewProps) {
  const { robot, section, number, isUnknown = false, picture, trust, stopResult, onStop } = props
  const { id, name, session, state, battery } = robot
  // A stop in force is cleared; everything else in a session may move at any moment.
  const canStop = session !== null && (state !== 'STOPPED' || isUnknown)
  return (
    <article
      className={styles.tile}
      aria-label={name}
      data-testid="live-tile"
      data-robot={id}
      data-section={section}
      data-unknown={isUnknown}
      data-state={state}
    >
      {picture}
      {trust}
      <div className={styles.corner}>
        {session && <RecordingMarkView recording={session.recording} isUnknown={isUnknown} />}
        {battery !== null && (
          <span data-testid="battery" data-low={battery < LOW_BATTERY} title={t('live.tile.battery')}>
            {percent(battery)}
          </span>
        )}
        {session && <SessionClock startedAt={session.started_at} />}
      </div>
      <div className={styles.foot}>
        {canStop && (
          <HoldButton
            holdMs={HOLD_MS}
            holdKey="s"
            className={styles.stop ?? ''}
            data-testid="stop"
            title={t('live.tile.holdLabel', { robot: name })}
            aria-label={t('live.tile.holdLabel', { robot: name })}
            onHold={onStop}
          >
            <StopSign size="1.4em" />
            <span className={styles.wide}>{t('live.tile.hold')}</span>
          </HoldButton>
        )}
        <div className={styles.names}>
          <OpenLink robot={robot} />
          <span className={styles.line}>
            {stopResult && stopResult.phase !== 'recorded' ? (
              <b role="alert">{stopResultText(stopResult)}</b>
            ) : (
              lineOf(robot)
            )}
          </span>
        </div>
        {session && <Action robot={robot} session={session} number={number} />}
      </div>
    </article>
  )
}

/** Shows the picture of a robot with its state, and opens its session or its page. */
export function StripTile({ robot, slots }: Pick<Props, 'robot' | 'slots'>) {
  const { name, session, camera, stream_url } = robot
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, undefined)
  const isUnknown = useConnection() !== 'live'
  const hasPicture = camera !== null || stream_url !== ''
  return (
    <article className={styles.tile} aria-label={name} data-testid="live-tile" data-unknown={isUnknown}>
      <TilePicture robot={robot} slots={slots} isIdle={session === null} onWatch={setWatch} />
      <LiveTrust robot={robot} readAges={readAges} isUnknown={isUnknown} hasPicture={hasPicture} />
      <div className={styles.foot}>
        <div className={styles.names}>
          <OpenLink robot={robot} />
        </div>
        <span className={styles.line}>{session?.operator_name}</span>
      </div>
    </article>
  )
}

/** The link that fills a tile: to the picture of a session, or to the page of the robot. */
const OpenLink = ({ robot: { id, name, session } }: Pick<Props, 'robot'>) =>
  session ? (
    <LinkAnchor to="/watch/$sessionId" params={{ sessionId: session.id }} className={styles.open ?? ''}>
      {name}
    </LinkAnchor>
  ) : (
    <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} className={styles.open ?? ''}>
      {name}
    </LinkAnchor>
  )

/** A charge below it is marked. */
const LOW_BATTERY = 0.2

const SessionClock = ({ startedAt }: { startedAt: string }) => (
  <span data-testid="session-clock">{clockText((useNow() - Date.parse(startedAt)) / 1_000)}</span>
)

/** Returns what the owner should know besides the state: a request, a reason, or who drives. */
export function lineOf({ session, on_hold }: LiveRobot): string {
  if (!session) return on_hold ? t('live.tile.onHold') : t('live.tile.noSession')
  const { operator_name: operator, stop, ends_at, requested_minutes: minutes, pause_reason } = session
  if (stop?.clear_requested_at) return t('live.tile.asksToClear', { operator })
  if (ends_at !== null) return t('live.tile.operatorGone', { time: timeOfDay(new Date(ends_at)) })
  if (minutes !== null) return t('live.tile.asksForTime', { operator, minutes })
  const reason = reasonText(stop ? stop.reason : pause_reason)
  return reason === '' ? t('live.tile.drives', { operator }) : `${operator}: ${reason}`
}

interface ActionProps {
  readonly robot: LiveRobot
  readonly session: NonNullable<LiveRobot['session']>
  readonly number: number | undefined
}

/** Offers what helps: clearing a stop, a decision on the page of the session, or a look. The keys 1 to 9 do the same. */
function Action({ robot: { name }, session, number }: ActionProps) {
  const { live } = usePlatform()
  const { id, stop, ends_at, requested_minutes } = session
  const look = {
    size: 'xs',
    variant: 'default',
    className: styles.action ?? '',
    'data-number': number,
    leftSection: number && (
      <span className={styles.key} aria-hidden="true">
        {number}
      </span>
    ),
  } as const
  const params = { sessionId: id }
  if (stop)
    return (
      <ConfirmButton
        {...look}
        data-asked={stop.clear_requested_at !== null}
        aria-label={t('live.tile.clearLabel', { robot: name })}
        question={t('live.tile.clearQuestion', { robot: name })}
        consequence={t('live.tile.clearText', { reason: reasonText(stop.reason) })}
        confirmLabel={t('session.clearStop.button')}
        dismissLabel={t('session.clearStop.keep')}
        confirmColor="blue"
        onConfirm={() => live.performAction(id, 'clear_stop')}
      >
        {t('live.tile.clear')}
      </ConfirmButton>
    )
  if (ends_at !== null || requested_minutes !== null)
    return (
      <LinkButton {...look} to="/sessions/$sessionId" params={params}>
        {t('live.tile.review')}
      </LinkButton>
    )
  return (
    <LinkButton
      {...look}
      to="/watch/$sessionId"
      params={params}
      aria-label={t('live.tile.watchLabel', { robot: name })}
    >
      {t('live.tile.watch')}
    </LinkButton>
  )
}
