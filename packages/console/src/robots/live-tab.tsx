import { Box, Card, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useInViewport } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { RobotState } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { MoreButton, RowTable, type TableColumn, wrapped } from '../base/data-table.tsx'
import { dataSize, decimals, duration, money } from '../base/format.ts'
import { LinkAnchor, SessionLink } from '../base/links.tsx'
import { messageOf } from '../base/message-of.ts'
import { Columns, Figures, Lines, Panel, Section } from '../base/section.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { Time, useTicker } from '../base/time.tsx'
import { useIsSilent, useReportOutdated } from '../freshness/use-freshness.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { type LiveSession, useConnection, useLiveSession } from '../platform/use-live.ts'
import { RecordingMark } from '../recording/recording-mark.tsx'
import { useStopText } from '../session/clear-stop.tsx'
import { LevelLabel, lineTime } from '../session/event-log.tsx'
import { AbandonedNotice, ReleaseRobot } from '../session/notices.tsx'
import {
  type ObserverConnection,
  useObserverConnection,
  useObserverState,
} from '../session/observer-connection.ts'
import { SessionActions } from '../session/session-actions.tsx'
import { type SessionDetail, useSession } from '../session/session-query.ts'
import { StopBar, useStop, useStopKey } from '../session/stop-bar.tsx'
import { type Activity, useActivity } from '../status/activity.ts'
import { type LiveRobot, RobotStateLabel } from '../status/live-robots.tsx'
import { StopSign } from '../status/shapes.tsx'
import { factsOf } from '../status/trust.ts'
import { TrustBadge } from '../status/trust-badge.tsx'
import type { StopControl } from '../stop/stop.ts'
import { TelemetryView, useSampleReader } from '../telemetry/telemetry-view.tsx'
import { robotStateTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { useRobotCameras } from '../video/use-cameras.ts'
import { useReadAges } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import tile from '../wall/tile.module.css'
import { SessionClock, TileVideo } from '../wall/tile-picture.tsx'
import { LastDay } from './health-tab.tsx'
import styles from './overview.module.css'
import type { RobotDetail } from './use-robots.ts'

interface Props {
  readonly robot: RobotDetail
  readonly live: LiveRobot | null | undefined
  /** Undefined until it is known. */
  readonly state: RobotState | undefined
}

/** Shows what a robot does now, its last day, and the newest of what its other tabs have. */
export function LiveTab({ robot, live, state }: Props) {
  const activity = useActivity(robot.id)
  return (
    <Stack gap="lg">
      {live?.session ? (
        <OpenOverview
          key={live.session.id}
          sessionId={live.session.id}
          robot={robot}
          live={live}
          activity={activity}
        />
      ) : (
        <Overview robot={robot} state={state} activity={activity} />
      )}
      <LastDay robot={robot} activity={activity} />
      <Columns of="minmax(0, 1.3fr) minmax(0, 1.1fr) minmax(250px, 1fr)">
        <LatestSessions robot={robot} activity={activity} />
        <LatestRecordings robot={robot} />
        <MainSettings robot={robot} />
      </Columns>
      <Section title={t('robots.live.logs')}>
        <RobotLogs robotId={robot.id} />
      </Section>
    </Stack>
  )
}

interface OverviewProps {
  readonly robot: RobotDetail
  readonly state: RobotState | undefined
  readonly activity: Activity | undefined
  readonly session?: NonNullable<LiveRobot['session']> | null | undefined
  readonly observer?: ObserverConnection | undefined
  readonly detail?: SessionDetail | undefined
  /** What lies on the picture, at its lower left. */
  readonly stop?: ReactNode
}

function Overview({ robot, state, activity, session, observer, detail, stop }: OverviewProps) {
  const source = useRobotCameras(robot).main?.source
  const [watch, setWatch] = useState<VideoWatch>()
  const readAges = useReadAges(watch, observer?.ages)
  const isUnknown = useConnection() !== 'live'
  const isIdle = state === undefined || state === 'READY' || state === 'OFFLINE'
  return (
    <Columns of="minmax(0, 1.9fr) minmax(280px, 1fr)">
      <section className={styles.hero} aria-label={t('robots.live.now')}>
        <div className={tile.picture}>
          {source && state !== 'OFFLINE' ? (
            <TileVideo
              source={source}
              title={t('robots.live.camera', { robot: robot.name })}
              onWatch={setWatch}
            />
          ) : (
            <Text>{state === 'OFFLINE' ? <LastOnline robot={robot} /> : t('live.tile.noCamera')}</Text>
          )}
        </div>
        {state && (
          <Box pos="absolute" top={14} left={14}>
            {isIdle || isUnknown ? (
              <RobotStateLabel state={state} isUnknown={isUnknown} isOnPicture />
            ) : (
              <TrustBadge
                readAges={readAges}
                robot={factsOf(state)}
                isOnPicture
                detail={state === 'DRIVING' ? robotStateTexts.DRIVING : undefined}
              />
            )}
          </Box>
        )}
        {stop}
        {session && (
          <div className={styles.who}>
            <b>{t('live.tile.drives', { operator: session.operator_name })}</b>{' '}
            <SessionClock startedAt={session.started_at} />
          </div>
        )}
      </section>
      <Card p={0}>
        <NowFigures robot={robot} activity={activity} observer={observer} detail={detail} />
      </Card>
    </Columns>
  )
}

const LastOnline = ({ robot }: { robot: RobotDetail }) =>
  robot.last_online
    ? textParts('robots.details.offlineSince', { time: <Time at={robot.last_online} /> })
    : t('robots.details.neverOnline')

/** Telemetry arrives many times a second. */
const FIGURES_MS = 250

function NowFigures(props: Pick<OverviewProps, 'robot' | 'activity' | 'observer' | 'detail'>) {
  const { robot, activity, observer, detail } = props
  const reader = useSampleReader(detail?.telemetry_schema ?? null)
  const sample = useRef<unknown>(undefined)
  useEffect(
    () =>
      observer?.subscribe(({ data }) => {
        sample.current = data
      }),
    [observer],
  )
  const observerState = useObserverState(observer)
  const isOutdated = useIsSilent(observer?.ages)
  useTicker(observer && FIGURES_MS)
  const isLive = observerState?.connection === 'online' && !isOutdated
  const speed = isLive ? reader.speedMps(sample.current) : undefined
  const nearest = isLive ? reader.nearest(sample.current) : undefined
  const latency = isLive ? observerState.driveLatency : undefined
  const command =
    latency?.operator_ms == null || latency.robot_ms == null
      ? undefined
      : latency.operator_ms + latency.robot_ms
  const today = todayOf(activity)
  const charge = observerState?.battery?.battery ?? robot.battery
  return (
    <Figures
      figures={[
        [
          t('robots.figures.speed'),
          speed === undefined ? NONE : t('robots.figures.metersPerSecond', { speed: decimals(speed, 2) }),
        ],
        [
          t('robots.details.battery'),
          <span key="battery" data-testid="battery">
            {charge === null ? NONE : percent(charge)}
          </span>,
          robot.battery_at === null ? (
            t('robots.details.notReported')
          ) : (
            <Time key="at" at={robot.battery_at} />
          ),
        ],
        [
          t('robots.figures.commands'),
          command === undefined ? NONE : t('home.operator.latency', { ms: Math.round(command) }),
          t('robots.figures.thereAndBack'),
        ],
        [
          t('robots.figures.nearest'),
          nearest ? t('robots.figures.meters', { distance: decimals(nearest.distanceM, 1) }) : NONE,
        ],
        [
          t('robots.figures.drivenToday'),
          duration(today.drivenS / 60),
          t('robots.figures.sessions', { count: today.count }),
        ],
        [t('robots.figures.costToday'), money(today.cents), t('robots.figures.soFar')],
      ]}
    />
  )
}

const NONE = '–'

/** Sums the sessions that were open today, in UTC. */
function todayOf(activity: Activity | undefined) {
  const day = activity?.at.slice(0, 10) ?? ''
  const sessions = activity?.sessions.filter(({ spans }) => (spans.at(-1)?.to ?? activity.at) >= day) ?? []
  return {
    count: sessions.length,
    drivenS: sessions.reduce((sum, { driven_seconds }) => sum + driven_seconds, 0),
    cents: sessions.reduce((sum, { cost_cents }) => sum + cost_cents, 0),
  }
}

function OpenOverview(
  props: { sessionId: string; live: LiveRobot } & Pick<OverviewProps, 'robot' | 'activity'>,
) {
  const { sessionId, robot, live, activity } = props
  const { data: detail } = useSession(sessionId)
  const room = useLiveSession(sessionId)
  if (!detail || !room)
    return <Overview robot={robot} state={live.state} session={live.session} activity={activity} />
  return <SessionOverview robot={robot} live={live} detail={detail} room={room} activity={activity} />
}

function SessionOverview(props: {
  robot: RobotDetail
  live: LiveRobot
  detail: SessionDetail
  room: LiveSession
  activity: Activity | undefined
}) {
  const { robot, live, detail, room, activity } = props
  const observer = useObserverConnection(detail.id, true)
  const observerState = useObserverState(observer)
  const stop = useStop(room.room, observer)
  const recordedStopText = useStopText(detail)
  const isOutdated = useIsSilent(observer?.ages)
  useReportOutdated(isOutdated)
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const inForce =
    recordedStopText || (observerState?.drive?.stop?.latched ? t('robots.live.stopInForce') : undefined)
  return (
    <>
      <Overview
        robot={robot}
        state={inForce === undefined ? live.state : 'STOPPED'}
        session={live.session}
        activity={activity}
        observer={observer}
        detail={detail}
        stop={
          <div ref={ref} className={styles.stop}>
            {/* Scrolled away, it stays in its corner of the window. */}
            {inViewport ? (
              <PictureStop stop={stop} inForce={inForce} />
            ) : (
              <StopBar stop={stop} inForce={inForce} />
            )}
          </div>
        }
      />
      <Columns of="minmax(0, 26rem) minmax(0, 1fr)">
        <Card>
          {observer && (
            <TelemetryView subscribe={observer.subscribe} telemetrySchema={detail.telemetry_schema} />
          )}
        </Card>
        <Stack>
          <AbandonedNotice session={detail} />
          <RecordingMark sessionId={detail.id} isUnknown={isOutdated} />
          <Group align="flex-start">
            <SessionActions live={room} />
            <ReleaseRobot sessionId={detail.id} robotName={robot.name}>
              {t('robots.openSession.release')}
            </ReleaseRobot>
          </Group>
        </Stack>
      </Columns>
    </>
  )
}

/** The stop at the lower left of the picture, with its state. Escape stops too. */
function PictureStop({ stop, inForce }: { stop: StopControl; inForce: string | undefined }) {
  const request = useStore(stop.state)
  useStopKey(stop)
  const text =
    request.phase === 'rejected'
      ? t('session.stopBar.rejected', { error: messageOf(request.error) })
      : request.phase === 'requested'
        ? t('session.stopBar.requested')
        : inForce
  return (
    <>
      <button
        type="button"
        className={styles.stopButton}
        data-in-force={inForce !== undefined}
        data-testid="stop"
        aria-keyshortcuts="Escape"
        aria-label={t('session.stopBar.buttonLabel')}
        onClick={stop.request}
      >
        <StopSign />
        {t('session.stopBar.button')}
      </button>
      <span className={styles.stopText} role="alert">
        {text}
      </span>
    </>
  )
}

function LatestSessions({ robot, activity }: Pick<OverviewProps, 'robot' | 'activity'>) {
  const sessions = activity?.sessions.slice(0, LATEST) ?? []
  return (
    <Panel
      title={t('robots.page.sessions')}
      more={
        <LinkAnchor to="/sessions" search={{ robot: robot.id }}>
          {t('robots.latest.all')}
        </LinkAnchor>
      }
    >
      <Rows
        empty={t('robots.latest.noSessions')}
        rows={sessions.map(({ id, operator_name, spans, driven_seconds, cost_cents }) => [
          id,
          <SessionLink key="name" id={id} name={operator_name} />,
          spans[0] && <Time key="time" at={spans[0].from} />,
          t('robots.latest.drivenFor', { time: duration(driven_seconds / 60), cost: money(cost_cents) }),
        ])}
      />
    </Panel>
  )
}

/** Entries of each panel. */
const LATEST = 4

function LatestRecordings({ robot }: { robot: RobotDetail }) {
  const { data } = useRead([...keys.recordings, 'latest', robot.id], (rest, { signal }) =>
    rest.GET('/api/recordings', { params: { query: { robot_id: robot.id, limit: LATEST } }, signal }),
  )
  return (
    <Panel
      title={t('robots.latest.recordings')}
      more={<LinkAnchor to="/recordings">{t('robots.latest.all')}</LinkAnchor>}
    >
      <Rows
        empty={t('robots.latest.noRecordings')}
        rows={(data?.recordings ?? []).map(({ id, session_id, started_at, mode, size_bytes }) => [
          id,
          <LinkAnchor key="name" to="/sessions/$sessionId/replay" params={{ sessionId: session_id }}>
            <Time at={started_at} />
          </LinkAnchor>,
          recordingTexts[mode],
          dataSize(size_bytes / 1e6),
        ])}
      />
    </Panel>
  )
}

const recordingTexts: Record<RobotDetail['recording'], string> = {
  off: t('robots.latest.off'),
  control: t('robots.latest.control'),
  video: t('robots.latest.video'),
}

const MainSettings = ({ robot }: { robot: RobotDetail }) => (
  <Panel
    title={t('robots.page.settings')}
    more={
      <LinkAnchor to="/robots/$robotId" params={{ robotId: robot.id }} search={{ tab: 'settings' }}>
        {t('robots.latest.change')}
      </LinkAnchor>
    }
  >
    <Rows
      empty=""
      rows={[
        [
          'latency',
          t('robots.latest.latency'),
          null,
          t('home.operator.latency', { ms: robot.latency_limit_ms }),
        ],
        [
          'picture',
          t('robots.latest.picture'),
          null,
          robot.video_limit_ms === null ? NONE : t('home.operator.latency', { ms: robot.video_limit_ms }),
        ],
        ['recording', t('robots.latest.recording'), null, recordingTexts[robot.recording]],
        ['battery', t('home.attention.lowBattery'), null, percent(robot.low_battery_threshold)],
        ['hold', t('live.tile.onHold'), null, t(robot.on_hold ? 'robots.latest.yes' : 'robots.latest.no')],
      ]}
    />
  </Panel>
)

type Row = readonly [key: string, name: ReactNode, note: ReactNode, value: ReactNode]

const Rows = ({ rows, empty }: { rows: readonly Row[]; empty: string }) =>
  rows.length === 0 ? (
    <Text p="md" c="dimmed">
      {empty}
    </Text>
  ) : (
    <Lines>
      {rows.map(([key, name, note, value]) => (
        <Group key={key} component="li" justify="space-between" wrap="nowrap" mih={46} px={18} py={9}>
          <div>
            {name}
            {note && <Note>{note}</Note>}
          </div>
          <Text fw={600} ta="end">
            {value}
          </Text>
        </Group>
      ))}
    </Lines>
  )

type LogLevel = Schemas['RobotLogLine']['level']

const PAGE_SIZE = 50
/** No event announces new log lines, so the page polls. */
const POLL_INTERVAL_MS = 3_000

function useRobotLogs(id: string, level: LogLevel) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.robots, 'logs', id, level],
    queryFn: async ({ pageParam: before }) => {
      const query = { level, limit: PAGE_SIZE, ...(before !== undefined && { before }) }
      return (await answerOf(rest.GET('/api/client/robots/{id}/logs', { params: { path: { id }, query } })))
        .logs
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.seq),
    select: ({ pages }) => pages.flat(),
    refetchInterval: POLL_INTERVAL_MS,
  })
}

const choices: { value: LogLevel; label: string }[] = [
  { value: 'debug', label: t('robots.logs.all') },
  { value: 'info', label: t('robots.logs.info') },
  { value: 'warn', label: t('robots.logs.warnings') },
  { value: 'error', label: t('robots.logs.errors') },
]

function RobotLogs({ robotId }: { robotId: string }) {
  const [level, setLevel] = useState<LogLevel>('debug')
  const query = useRobotLogs(robotId, level)
  return (
    <Stack>
      <SegmentedControl
        data={choices}
        value={level}
        onChange={(value) => setLevel(value as LogLevel)}
        aria-label={t('robots.logs.minimumLevel')}
        size="xs"
      />
      <QueryView
        query={query}
        isEmpty={(lines) => lines.length === 0}
        empty={<Empty title={t(level === 'debug' ? 'robots.logs.emptyTitle' : 'robots.logs.noMatch')} />}
      >
        {(lines) => (
          <>
            <RowTable
              label={t('robots.logs.label')}
              minWidth={480}
              columns={logColumns}
              rows={lines}
              keyOf={({ seq }) => seq}
            />
            <MoreButton query={query}>{t('robots.logs.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const logColumns: readonly TableColumn<Schemas['RobotLogLine']>[] = [
  [
    t('robots.logs.time'),
    ({ at }) => <time dateTime={at}>{lineTime(at)}</time>,
    { style: { whiteSpace: 'nowrap' } },
  ],
  [t('robots.logs.level'), ({ level }) => <LevelLabel level={level} />],
  [
    t('robots.logs.message'),
    ({ message, dropped }) => (
      <Text size="sm" fs={dropped > 0 ? 'italic' : 'normal'} style={wrapped} translate="no">
        {message}
      </Text>
    ),
  ],
]
