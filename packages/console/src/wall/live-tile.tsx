import { memo, type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { IconRoute } from '../base/icons.tsx'
import { LinkButton } from '../base/links.tsx'
import { usePlatform } from '../platform/platform.ts'
import { useConnection } from '../platform/use-live.ts'
import { RecordingMarkView } from '../recording/recording-mark.tsx'
import type { LiveRobot } from '../status/live-robots.tsx'
import { StopSign } from '../status/shapes.tsx'
import type { TrustState } from '../status/trust.ts'
import { type FleetStop, type StopResult, stopResultText } from '../stop/fleet-stop.ts'
import { HoldButton } from '../stop/hold-button.tsx'
import { modeTexts, reasonText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { useReadAges } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import type { PictureSlots } from './picture-slots.ts'
import type { SectionName } from './sections.ts'
import styles from './tile.module.css'
import { LiveTrust, lineOf, OpenLink, SessionClock, TilePicture } from './tile-picture.tsx'

/** How long the stop of one robot must be held. */
const HOLD_MS = 600
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

export const LiveTile = memo(function LiveTile({ robot, section, number, slots, fleetStop, onSeen }: Props) {
  const { name, session } = robot
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
      trust={<LiveTrust robot={robot} readAges={readAges} isUnknown={isUnknown} onSeen={onSeen} />}
      stopResult={stopResult}
      onStop={() => session && fleetStop.stop([{ sessionId: session.id, robotName: name }])}
    />
  )
})

interface LiveTileViewProps extends Pick<Props, 'robot'>, Partial<Pick<Props, 'section' | 'number'>> {
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
  const { id, name, session, state, battery, mode } = robot
  const modeText = mode && modeTexts[mode]
  // A stop in force is cleared; everything else in a session may move at any moment.
  const canStop = session !== null && (state !== 'STOPPED' || isUnknown)
  return (
    <article
      className={styles.tile}
      aria-label={name}
      data-testid="live-tile"
      data-robot={id}
      data-session={session?.id}
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
        {modeText && !isUnknown && (
          <span data-testid="mode">
            <IconRoute size="1.1em" /> {modeText}
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

/** A charge below it is marked. */
const LOW_BATTERY = 0.2

interface ActionProps extends Pick<Props, 'robot' | 'number'> {
  readonly session: NonNullable<LiveRobot['session']>
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
  if (session.asks_for_control !== null)
    return (
      <LinkButton {...look} data-asked to="/drive/$sessionId" params={params}>
        {t('live.tile.help')}
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
