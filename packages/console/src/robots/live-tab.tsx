import { Group, Paper, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { DataTable, DescriptionItem, DescriptionList, MoreButton } from '../base/data-table.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useIsSilent, useReportOutdated } from '../freshness/use-freshness.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { type LiveSession, useLiveSession } from '../platform/use-live.ts'
import { RecordingMark } from '../recording/recording-mark.tsx'
import { useStopText } from '../session/clear-stop.tsx'
import { LevelLabel, lineTime } from '../session/event-log.tsx'
import { LiveStatus, SessionStatusLine } from '../session/live-status.tsx'
import { AbandonedNotice, ReleaseRobot } from '../session/notices.tsx'
import { useObserverConnection, useObserverState } from '../session/observer-connection.ts'
import { SessionActions } from '../session/session-actions.tsx'
import { type SessionDetail, sessionQuery } from '../session/session-query.ts'
import { StopBar, useStop } from '../session/stop-bar.tsx'
import type { LiveRobot } from '../status/live-robots.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { percent } from '../texts/percent.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { useRobotCameras } from '../video/use-cameras.ts'
import { VideoView } from '../video/video-view.tsx'
import { HeartbeatAge } from './robot-status.tsx'
import { type Robot, type RobotDetail, useLiveRobots } from './use-robots.ts'

/** Shows what a robot does now: picture, open session with position and stop, log. */
export const LiveTab = ({ robot, live }: { robot: RobotDetail; live: LiveRobot | null | undefined }) => (
  <Stack>
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <VideoView
        source={useRobotCameras(robot).main?.source}
        title={t('robots.live.camera', { robot: robot.name })}
      />
      {live?.session ? (
        <LivePanel key={live.session.id} sessionId={live.session.id} robot={robot} />
      ) : (
        <Section title={t('robots.live.now')}>
          <RobotDetails robot={robot} />
        </Section>
      )}
    </SimpleGrid>
    <Section title={t('robots.live.logs')}>
      <RobotLogs robotId={robot.id} />
    </Section>
  </Stack>
)

function LivePanel({ sessionId, robot }: { sessionId: string; robot: RobotDetail }) {
  const { rest } = usePlatform()
  const query = useQuery(sessionQuery(rest, sessionId))
  const live = useLiveSession(sessionId)
  if (!query.data || !live) return null
  return (
    <OpenPanel
      key={sessionId}
      robot={robot}
      session={query.data}
      fetchedAtMs={query.dataUpdatedAt}
      live={live}
    />
  )
}

/** Shows the open session of the robot over a connection to its gateway. */
function OpenPanel(props: {
  robot: RobotDetail
  session: SessionDetail
  fetchedAtMs: number
  live: LiveSession
}) {
  const { robot, session, fetchedAtMs, live } = props
  const observerConnection = useObserverConnection(session.id, true)
  const observerState = useObserverState(observerConnection)
  const telemetrySchema = useTelemetrySchema(session.telemetry_schema)
  const stop = useStop(live.room, observerConnection)
  const recordedStopText = useStopText(session)
  const isOutdated = useIsSilent(observerConnection?.ages)
  useReportOutdated(isOutdated)
  const latchedText = observerState?.drive?.stop?.latched ? t('robots.live.stopInForce') : undefined
  return (
    <Stack>
      <OpenSession robot={robot} />
      <AbandonedNotice session={session} />
      <SessionStatusLine session={session} live={live} observerState={observerState} isOutdated={isOutdated}>
        <RecordingMark sessionId={session.id} isUnknown={isOutdated} />
      </SessionStatusLine>
      <LiveStatus
        session={session}
        fetchedAtMs={fetchedAtMs}
        live={live}
        observerState={observerState}
        isOutdated={isOutdated}
      />
      <SessionActions live={live} />
      <Paper withBorder p="md">
        {observerConnection && (
          <TelemetryView subscribe={observerConnection.subscribe} schema={telemetrySchema} />
        )}
      </Paper>
      <StopBar stop={stop} inForce={recordedStopText || latchedText} />
    </Stack>
  )
}

/** Lists the last known state of a robot. */
function RobotDetails({ robot }: { robot: RobotDetail }) {
  const { last_heartbeat, status } = useLiveRobots()(robot)
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      <DescriptionItem label={t('robots.details.lastHeartbeat')}>
        <HeartbeatAge at={last_heartbeat} />
      </DescriptionItem>
      <DescriptionItem label={t('robots.details.battery')}>
        <Battery robot={robot} />
      </DescriptionItem>
      {status === 'OFFLINE' && (
        <DescriptionItem label={t('robots.details.lastOnline')}>
          {robot.last_online ? <Time at={robot.last_online} /> : t('robots.details.never')}
        </DescriptionItem>
      )}
      <DescriptionItem label={t('robots.details.driveTime')}>{hours(robot.total_hours)}</DescriptionItem>
    </DescriptionList>
  )
}

const hours = (value: number) =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'hour',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  }).format(value)

function Battery({ robot: { battery, battery_at: at } }: { robot: RobotDetail }) {
  if (battery === null || at === null) return t('robots.details.notReported')
  return textParts('robots.details.charge', { charge: percent(battery), time: <Time at={at} /> })
}

/** Shows the open session of a robot. The owner may end it at any time. */
function OpenSession({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const { data: session } = useQuery({
    queryKey: [...keys.sessions, 'open-on', robot.id],
    queryFn: () => findOpen(rest, robot.id),
  })
  if (!session) return null
  return (
    <Section title={t('robots.openSession.title')}>
      <Group justify="space-between">
        <Group gap="xs">
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }}>
            {t('robots.openSession.operator', { operator: session.operator_name })}
          </LinkAnchor>
          <SessionStatusLabel status={session.status} />
        </Group>
        <ReleaseRobot sessionId={session.id} robotName={robot.name}>
          {t('robots.openSession.release')}
        </ReleaseRobot>
      </Group>
      <Text size="sm" c="dimmed">
        {t('robots.openSession.note')}
      </Text>
    </Section>
  )
}

/** Returns the ACTIVE or PAUSED session of a robot. There is at most one. */
async function findOpen(rest: RestClient, robotId: string) {
  const lists = await Promise.all(
    (['ACTIVE', 'PAUSED'] as const).map((status) =>
      answerOf(rest.GET('/api/sessions', { params: { query: { robotId, status, limit: 1 } } })),
    ),
  )
  return lists.flatMap(({ sessions }) => sessions)[0] ?? null
}

type LogLevel = Schemas['RobotLogLine']['level']

const PAGE_SIZE = 50
/** No event announces new log lines, so the page polls. */
const POLL_INTERVAL_MS = 3_000

/** Queries the log of a robot page by page, newest line first. */
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

/** Shows the log of a robot, newest line first. Polls for new lines. */
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
            <DataTable
              label={t('robots.logs.label')}
              minWidth={480}
              columns={[t('robots.logs.time'), t('robots.logs.level'), t('robots.logs.message')]}
            >
              {lines.map((line) => (
                <Table.Tr key={line.seq}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    <time dateTime={line.at}>{lineTime(line.at)}</time>
                  </Table.Td>
                  <Table.Td>
                    <LevelLabel level={line.level} />
                  </Table.Td>
                  <Table.Td>
                    <Text
                      size="sm"
                      fs={line.dropped > 0 ? 'italic' : 'normal'}
                      style={wrapped}
                      translate="no"
                    >
                      {line.message}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
            <MoreButton query={query}>{t('robots.logs.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const wrapped = { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' } as const
