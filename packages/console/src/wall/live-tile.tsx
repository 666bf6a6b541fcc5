import { Button, Card, Group, Stack, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { clockText, timeOfDay } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Time, useNow } from '../base/time.tsx'
import type { LinkAges } from '../freshness/freshness.ts'
import { LiveFreshness } from '../freshness/freshness-badge.tsx'
import { useConnection } from '../platform/use-live.ts'
import { type RecordingMarkProps, RecordingMarkView } from '../recording/recording-mark.tsx'
import { type LiveRobot, RobotStateLabel, useLastHeartbeat } from '../status/live-robots.tsx'
import { type FleetStop, type StopResult, stopResultText } from '../stop/fleet-stop.ts'
import { reasonText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { publishedCamera } from '../video/use-cameras.ts'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import { videoUrl } from '../video/watch-video.ts'
import { createHeartbeatAge, LATE_HEARTBEAT_MS } from './heartbeat-age.ts'
import type { PictureSlots } from './picture-slots.ts'
import styles from './wall.module.css'

interface Props {
  readonly robot: LiveRobot
  readonly slots: PictureSlots
  readonly fleetStop: FleetStop
}

/** Shows one live robot. Its freshness is the age of the picture, or of a heartbeat that is late. */
export function LiveTile({ robot, slots, fleetStop }: Props) {
  const sessionId = robot.session?.id
  const heartbeatAt = useLastHeartbeat(robot)
  const readLinkAges = useHeartbeatAges(heartbeatAt)
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, readLinkAges)
  const stopResult = useSyncExternalStore(fleetStop.results.subscribe, () =>
    sessionId === undefined ? undefined : fleetStop.results.get().get(sessionId),
  )
  const isUnknown = useConnection() !== 'live'
  return (
    <LiveTileView
      robot={robot}
      isUnknown={isUnknown}
      heartbeatAt={heartbeatAt}
      picture={<TilePicture robot={robot} slots={slots} readLinkAges={readLinkAges} onWatch={setWatch} />}
      freshness={<LiveFreshness readAges={readAges} />}
      stopResult={stopResult}
      onStop={() => sessionId !== undefined && fleetStop.stop([{ sessionId, robotName: robot.name }])}
    />
  )
}

/** Returns a function that returns the age of the newest heartbeat, stable between renders. */
function useHeartbeatAges(at: string | null): () => LinkAges {
  const [heartbeats] = useState(() => createHeartbeatAge(at))
  useEffect(() => heartbeats.note(at), [heartbeats, at])
  return heartbeats.ages
}

interface LiveTileViewProps {
  readonly robot: LiveRobot
  /** Whether the page has no connection to the hub, so that it does not know what the robot does. */
  readonly isUnknown?: boolean
  /** The newest known heartbeat, in ISO 8601. */
  readonly heartbeatAt: string | null
  /** The picture of the robot, or why there is no picture. */
  readonly picture: ReactNode
  /** The badge that shows whether the picture and the state can be trusted. */
  readonly freshness: ReactNode
  /** The result of the last stop that was requested here. */
  readonly stopResult?: StopResult | undefined
  readonly onStop: () => void
}

/** Renders the tile of one live robot: picture, state, freshness, operator, session clock, battery and stop. */
export function LiveTileView(props: LiveTileViewProps) {
  const { robot, isUnknown = false, heartbeatAt, picture, freshness, stopResult, onStop } = props
  const { session, state } = robot
  const needsAttention = state === 'STOPPED' || state === 'LOST'
  return (
    <Card
      component="li"
      withBorder
      p="sm"
      className={`${styles.tile} ${needsAttention ? styles.attention : ''}`}
      data-testid="live-tile"
      data-robot={robot.id}
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <LinkAnchor to="/robots/$robotId" params={{ robotId: robot.id }} fw={600} truncate>
            {robot.name}
          </LinkAnchor>
          <RobotStateLabel state={state} isUnknown={isUnknown} />
        </Group>
        {picture}
        <Group justify="space-between" gap="xs">
          {freshness}
          <HeartbeatLine at={heartbeatAt} />
        </Group>
        <Group justify="space-between" gap="xs">
          <Text size="sm" data-testid="battery">
            {robot.battery === null
              ? t('live.tile.batteryUnknown')
              : t('live.tile.battery', { charge: percent(robot.battery) })}
          </Text>
          {session && <RecordingMarkView recording={recordingOf(session)} isUnknown={isUnknown} />}
          {!session && <Text size="sm">{t('live.tile.noSession')}</Text>}
        </Group>
        {session && <SessionLines robotName={robot.name} session={session} />}
        {session && <TileStop robotName={robot.name} result={stopResult} onStop={onStop} />}
      </Stack>
    </Card>
  )
}

/** Returns the recording of a session, if the list has it. */
const recordingOf = (session: object): RecordingMarkProps['recording'] =>
  'recording' in session ? (session.recording as RecordingMarkProps['recording']) : null

/** Shows the age of the last heartbeat, marked when it is late. */
function HeartbeatLine({ at }: { at: string | null }) {
  const nowMs = useNow()
  if (at === null) return <Text size="sm">{t('live.tile.noHeartbeat')}</Text>
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1_000))
  return (
    <Text
      size="sm"
      className={seconds * 1_000 > LATE_HEARTBEAT_MS ? styles.late : undefined}
      data-testid="age"
    >
      {seconds < 60 ? t('live.tile.heartbeat', { seconds }) : <Time at={at} />}
    </Text>
  )
}

function SessionLines(props: { robotName: string; session: NonNullable<LiveRobot['session']> }) {
  const { robotName, session } = props
  const { id, stop, pause_reason } = session
  const reason = stop ? reasonText(stop.reason) : reasonText(pause_reason)
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} size="sm" truncate>
          {session.operator_name}
        </LinkAnchor>
        <SessionClock startedAt={session.started_at} />
      </Group>
      <LinkAnchor
        to="/watch/$sessionId"
        params={{ sessionId: id }}
        size="sm"
        aria-label={t('live.tile.fullViewLabel', { robot: robotName })}
      >
        {t('live.tile.fullView')}
      </LinkAnchor>
      {session.ends_at !== null && (
        <Text size="sm" className={styles.late}>
          {t('live.tile.operatorGone', { time: timeOfDay(new Date(session.ends_at)) })}
        </Text>
      )}
      {stop?.by_name && <Text size="sm">{t('live.tile.stoppedBy', { name: stop.by_name })}</Text>}
      {reason !== '' && (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {reason}
        </Text>
      )}
    </>
  )
}

const SessionClock = ({ startedAt }: { startedAt: string }) => (
  <Text size="sm" data-testid="session-clock" style={{ fontVariantNumeric: 'tabular-nums' }}>
    {clockText((useNow() - Date.parse(startedAt)) / 1_000)}
  </Text>
)

const TileStop = (props: { robotName: string; result: StopResult | undefined; onStop: () => void }) => (
  <>
    <Button
      color="red.9"
      fullWidth
      className={styles.stop}
      data-testid="stop"
      aria-label={t('live.tile.stopLabel', { robot: props.robotName })}
      onClick={props.onStop}
    >
      {t('live.tile.stop')}
    </Button>
    {props.result && props.result.phase !== 'recorded' && (
      <Text size="sm" role="alert">
        {stopResultText(props.result)}
      </Text>
    )}
  </>
)

interface TilePictureProps {
  readonly robot: LiveRobot
  readonly slots: PictureSlots
  /** Returns the age of what else the page knows of the robot; stable between renders. */
  readonly readLinkAges: () => LinkAges
  /** Receives the viewer of the shown picture. Stable between renders. */
  readonly onWatch: (watch: VideoWatch | undefined) => void
}

/** Shows the robot's picture while the tile is visible and there is a free slot. */
function TilePicture({ robot, slots, readLinkAges, onWatch }: TilePictureProps) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { id, camera, stream_url } = robot
  const source = useMemo(
    () => (camera === null ? stream_url : publishedCamera(id, camera)),
    [id, camera, stream_url],
  )
  const origin = camera === null ? originOf(stream_url) : WEBRTC
  useEffect(() => {
    if (!inViewport || origin === undefined) return
    slots.request(id, origin)
    return () => slots.release(id)
  }, [slots, id, origin, inViewport])
  const shown = useSyncExternalStore(slots.shown.subscribe, () => slots.shown.get().has(id))
  return (
    <div ref={ref} className={styles.picture}>
      {shown ? (
        <VideoView
          source={source}
          title={t('live.tile.camera', { robot: robot.name })}
          readLinkAges={readLinkAges}
          onWatch={onWatch}
        />
      ) : (
        <div className={styles.placeholder}>
          {origin === undefined ? (
            <Text size="sm">{t('live.tile.noCamera')}</Text>
          ) : (
            inViewport && (
              <>
                <Text size="sm">{t('live.tile.tooManyPictures')}</Text>
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => slots.prefer(id)}
                  aria-label={t('live.tile.showPictureLabel', { robot: robot.name })}
                >
                  {t('live.tile.showPicture')}
                </Button>
              </>
            )
          )}
        </div>
      )}
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
