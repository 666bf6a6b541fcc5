import { Button, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { clockText, timeOfDay } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { useStore } from '../base/store.ts'
import { useNow } from '../base/time.tsx'
import type { Freshness } from '../freshness/freshness.ts'
import { type ReadAges, useFreshness } from '../freshness/use-freshness.ts'
import { useConnection } from '../platform/use-live.ts'
import { controllerText } from '../session/control-query.ts'
import { type LiveRobot, RobotStateLabel } from '../status/live-robots.tsx'
import { factsOf, type TrustState, trustOf } from '../status/trust.ts'
import { TrustBadgeView } from '../status/trust-badge.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { publishedCamera } from '../video/use-cameras.ts'
import { useReadAges, useVideo, type VideoProps } from '../video/video-view.tsx'
import { type VideoWatch, videoUrl } from '../video/watch-video.ts'
import type { PictureSlots } from './picture-slots.ts'
import { hasPicture } from './sections.ts'
import styles from './tile.module.css'

interface Props extends Pick<VideoProps, 'onWatch'> {
  readonly robot: Pick<LiveRobot, 'id' | 'name' | 'camera' | 'stream_url'>
  readonly slots: PictureSlots
  /** Whether nobody drives it, so that a still picture does for a while. */
  readonly isIdle?: boolean
}

/** Fills its tile with the picture of a robot while it is visible and there is a free slot. */
export function TilePicture({ robot, slots, isIdle = false, onWatch }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { id, name, camera, stream_url } = robot
  const source = useMemo(
    () => (camera === null ? { url: stream_url } : publishedCamera(id, camera)),
    [id, camera, stream_url],
  )
  const origin = camera === null ? originOf(stream_url) : WEBRTC
  useEffect(() => {
    if (!inViewport || origin === undefined) return
    slots.request(id, origin, isIdle)
    return () => slots.release(id)
  }, [slots, id, origin, isIdle, inViewport])
  const still = useRef<HTMLDivElement>(null)
  const shown = useSyncExternalStore(slots.shown.subscribe, () => slots.shown.get().has(id))
  return (
    <div ref={ref} className={styles.picture}>
      <div ref={still} className={styles.still} />
      {shown && (
        <TileVideo
          source={source}
          title={t('live.tile.camera', { robot: name })}
          still={still}
          onWatch={onWatch}
        />
      )}
      {!shown && origin === undefined && <Text size="sm">{t('live.tile.noCamera')}</Text>}
      {!shown && origin !== undefined && inViewport && (
        <Button
          size="compact-xs"
          variant="default"
          className={styles.show}
          onClick={() => slots.prefer(id)}
          title={t('live.tile.tooManyPictures')}
          aria-label={t('live.tile.showPictureLabel', { robot: name })}
        >
          {t('live.tile.showPicture')}
        </Button>
      )}
    </div>
  )
}

/** Fills its positioned parent with a video. */
export function TileVideo(props: VideoProps) {
  const { host, watch } = useVideo(props)
  return (
    <section aria-label={props.title}>
      <div ref={host} className={styles.host} />
      {watch && <Missing watch={watch} />}
    </section>
  )
}

/** Covers a missing picture: with a skeleton until the first one is there, or with what is wrong. */
function Missing({ watch }: { watch: VideoWatch }) {
  const { phase, reason } = useStore(watch.state)
  if (phase === 'showing') return null
  return (
    <div className={styles.missing} data-waiting={reason === undefined}>
      {reason !== undefined && <Text size="sm">{t('live.freshness.noCamera')}</Text>}
    </div>
  )
}

/** Video over WebRTC uses no connections of HTTP, and the processor for decoding: it counts as one origin, too. */
const WEBRTC = 'webrtc'

/** Returns the origin of a video, undefined without a video that a browser can play. */
function originOf(streamUrl: string): string | undefined {
  const address = streamUrl === '' ? undefined : videoUrl(streamUrl)
  return address === undefined ? undefined : URL.parse(address, location.href)?.origin
}

/** A picture must have been late, or live again, for so long that its tile does not move back and forth. */
const SETTLED_MS = 2_000

interface TrustProps {
  readonly robot: LiveRobot
  readonly isUnknown: boolean
  readonly hasPicture: boolean
}

/** Only this part of a tile is rendered when the age of its picture changes. */
export function LiveTrust(
  props: Omit<TrustProps, 'hasPicture'> & {
    readAges: ReadAges
    /** Receives what the tile has seen for a while. Stable between renders. */
    onSeen?: (robotId: string, state: TrustState) => void
  },
) {
  const { robot, readAges, onSeen } = props
  const freshness = useFreshness(readAges)
  const { state } = trustOf(awaited(freshness), factsOf(robot.state))
  useEffect(() => {
    const timer = setTimeout(() => onSeen?.(robot.id, state), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [robot.id, state, onSeen])
  return <TileTrust {...props} hasPicture={hasPicture(robot)} freshness={freshness} />
}

/** Before the first picture nothing is blind: the page waits for it. */
const awaited = (freshness: Freshness): Freshness =>
  freshness.oldest === 'firstPicture' ? { ...freshness, state: 'CONNECTING' } : freshness

/** Shows the state of a tile, as the chip and as the rim of its picture. A robot without a picture has only what the hub knows. */
export function TileTrust(props: TrustProps & { freshness: Freshness }) {
  const { robot, isUnknown } = props
  const { state: robotState } = robot
  const nowMs = useNow()
  const freshness = awaited(props.freshness)
  const { state } = trustOf(freshness, factsOf(robot.state))
  const isPlain =
    robotState === 'READY'
      ? state === 'LIVE' || state === 'CONNECTING'
      : !props.hasPicture && state === 'LIVE'
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
            robot={factsOf(robot.state)}
            isOnPicture
            detail={stopDetail(robot, nowMs)}
          />
        )}
      </div>
    </>
  )
}

function stopDetail({ session, state }: LiveRobot, nowMs: number): string | undefined {
  const stop = session?.stop
  if (stop) {
    const time = timeOfDay(new Date(stop.at))
    return stop.by_name === null ? time : t('live.tile.stopDetail', { name: stop.by_name, time })
  }
  const isPaused = state === 'PAUSED' && session?.paused_at
  return isPaused ? clockText((nowMs - Date.parse(isPaused)) / 1_000) : undefined
}

/** Shows the picture of a robot with its state, and opens its session or its page. */
export function StripTile({ robot, slots }: { robot: LiveRobot; slots: PictureSlots }) {
  const { name, session } = robot
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, undefined)
  const isUnknown = useConnection() !== 'live'
  return (
    <article className={styles.tile} aria-label={name} data-testid="live-tile" data-unknown={isUnknown}>
      <TilePicture robot={robot} slots={slots} isIdle={session === null} onWatch={setWatch} />
      <LiveTrust robot={robot} readAges={readAges} isUnknown={isUnknown} />
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
export function OpenLink({ robot: { id, name, session } }: { robot: LiveRobot }) {
  const look = { c: 'var(--ink)', className: styles.open ?? '', children: name }
  return session ? (
    <LinkAnchor to="/watch/$sessionId" params={{ sessionId: session.id }} {...look} />
  ) : (
    <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} {...look} />
  )
}

/** Returns what the owner should know besides the state: a request, a reason, or who drives. */
export function lineOf({ session, on_hold }: LiveRobot): string {
  if (!session) return on_hold ? t('live.tile.onHold') : t('live.tile.noSession')
  const { operator_name: operator, stop, ends_at, requested_minutes: minutes, pause_reason } = session
  if (stop?.clear_requested_at) return t('live.tile.asksToClear', { operator })
  if (ends_at !== null) return t('live.tile.operatorGone', { time: timeOfDay(new Date(ends_at)) })
  if (minutes !== null) return t('live.tile.asksForTime', { operator, minutes })
  const asks = session.asks_for_control
  if (asks)
    return t(asks.kind === 'offer' ? 'live.tile.asksForHelp' : 'live.tile.asksForControl', {
      name: asks.from_name,
    })
  const reason = reasonText(stop ? stop.reason : pause_reason)
  if (reason === '' && session.holder !== undefined) return controllerText(session.holder)
  return reason === '' ? t('live.tile.drives', { operator }) : `${operator}: ${reason}`
}

export const SessionClock = ({ startedAt }: { startedAt: string }) => (
  <span data-testid="session-clock">{clockText((useNow() - Date.parse(startedAt)) / 1_000)}</span>
)
