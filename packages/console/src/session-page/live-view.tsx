import { Box, Center, Group, Stack, Tabs, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { clockText } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { useNow } from '../base/time.tsx'
import { EpisodePanel, useEpisodeMarks } from '../episodes/episode-panel.tsx'
import { useIsSilent, useReportOutdated } from '../freshness/use-freshness.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { RecordingMark } from '../recording/recording-mark.tsx'
import { useSessionRecording } from '../recording/recordings.ts'
import type { StopEntry } from '../replay/data/overview.ts'
import { drawStates, stateSpans } from '../replay/view/tracks.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { StopPlate } from '../session/clear-stop.tsx'
import { EventLog, LevelLabel, LogLine, LogList, lineTime } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import { FoxgloveButton } from '../session/foxglove-dialog.tsx'
import { LiveStatus, type LiveStatusProps, SessionStatusLine } from '../session/live-status.tsx'
import { AbandonedNotice, ConnectionProblem } from '../session/notices.tsx'
import {
  type ObserverConnection,
  type ObserverState,
  useObserverConnection,
  useObserverState,
} from '../session/observer-connection.ts'
import { SessionActions } from '../session/session-actions.tsx'
import styles from '../session/session-page.module.css'
import { type SessionDetail, useSessionRoles } from '../session/session-query.ts'
import { StopBar, useStop } from '../session/stop-bar.tsx'
import { TrustBadge } from '../status/trust-badge.tsx'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras } from '../video/use-cameras.ts'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'

/** Shows an open session: a large picture with the stop in its corner, what has happened so far, and a rail of tabs. */
export function LiveView(props: { session: SessionDetail; fetchedAtMs: number; live: LiveSession }) {
  const { session, fetchedAtMs, live } = props
  const { operator, client } = useSessionRoles(session)
  const observerConnection = useObserverConnection(session.id, true)
  const observerState = useObserverState(observerConnection)
  const stop = useStop(live.room, observerConnection)
  const isStopped = session.control.stop !== null || observerState?.drive?.stop?.latched === true
  const isOutdated = useIsSilent(observerConnection?.ages)
  useReportOutdated(isOutdated)
  const title = t('session.page.titleOn', { robot: session.robot_name })
  useDocumentTitle(`${title} · ${t('common.product')}`)
  const params = { sessionId: session.id }
  const shared = { session, live, observerConnection, observerState, isOutdated }
  return (
    <Stack gap="sm" className={styles.live ?? ''}>
      <Group justify="space-between" gap="xs">
        <div>
          <Title order={1}>{title}</Title>
          <SessionStatusLine {...shared}>
            <RecordingMark sessionId={session.id} isUnknown={isOutdated} />
          </SessionStatusLine>
        </div>
        <Group gap="xs">
          <SessionActions live={live} isStopElsewhere />
          {operator ? (
            <LinkButton to="/drive/$sessionId" params={params}>
              {t('session.live.openCockpit')}
            </LinkButton>
          ) : (
            <LinkButton to="/watch/$sessionId" params={params} variant="default">
              {t('session.live.fullView')}
            </LinkButton>
          )}
        </Group>
      </Group>
      {isStopped && <StopPlate session={session} live={live} />}
      <AbandonedNotice session={session} />
      <ConnectionProblem observerConnection={observerConnection} observerState={observerState} />
      <Stack gap="sm" className={styles.columns ?? ''}>
        <Stack gap="sm" miw={0}>
          {/* The operator sees the robot from the cockpit. */}
          <Picture {...shared} showsCamera={client || !operator} isStopped={isStopped} />
          <SessionBand session={session} events={live.events} />
        </Stack>
        <Rail {...shared} fetchedAtMs={fetchedAtMs} />
      </Stack>
      <StopBar stop={stop} inForce={isStopped ? '' : undefined} />
    </Stack>
  )
}

interface ConnectedProps extends LiveStatusProps {
  readonly observerConnection: ObserverConnection | undefined
}

/** The large picture, with how far it can be trusted. The stop lies in its lower left corner. */
function Picture(props: ConnectedProps & { showsCamera: boolean; isStopped: boolean }) {
  const { session, live, showsCamera, isStopped, observerConnection, observerState } = props
  const [watch, setWatch] = useState<VideoWatch>()
  const cameras = useSessionCameras(session, 'watch')
  const readAges = useReadAges(watch, observerConnection?.ages)
  const robot = {
    isConnected: observerState?.drive?.robot_connected ?? session.control.connected,
    isStopped,
    isPaused: (live.session?.status ?? session.status) === 'PAUSED',
  }
  return (
    <div className={styles.hero}>
      {showsCamera ? (
        <VideoView
          source={cameras.main?.source}
          title={t('session.live.camera', { robot: session.robot_name })}
          readLinkAges={observerConnection?.ages}
          onWatch={setWatch}
        />
      ) : (
        <Center pos="absolute" inset={0} p="md" ta="center" c="var(--ink-2)">
          {t('session.live.inCockpit')}
        </Center>
      )}
      <Box pos="absolute" right={12} top={12} style={{ zIndex: 2 }}>
        {observerConnection && <TrustBadge readAges={readAges} robot={robot} isOnPicture />}
      </Box>
    </div>
  )
}

/** Shows the states of an open session so far, and leads back in its recording. */
function SessionBand(props: { session: SessionDetail; events: readonly SessionLogEvent[] }) {
  const { session, events } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const recording = useSessionRecording(session.id).data
  const changes = useMemo(() => changesOf(events), [events])
  const nowMs = useNow()
  const fromMs = Date.parse(session.started_at ?? session.created_at)
  useEffect(() => {
    const range = { fromMs, toMs: Math.max(fromMs + 1, nowMs) }
    if (canvas.current) drawStates(canvas.current, stateSpans(changes, nowMs), range)
  }, [changes, fromMs, nowMs])
  return (
    <Group
      component="section"
      aria-label={t('session.band.label')}
      gap="sm"
      wrap="nowrap"
      mih={44}
      c="dimmed"
    >
      <canvas ref={canvas} aria-hidden style={{ flex: 1, width: 0, minWidth: '6rem', height: '1.25rem' }} />
      <span>{t('session.band.soFar', { time: clockText((nowMs - fromMs) / 1_000) })}</span>
      {recording && (
        <LinkButton
          to="/sessions/$sessionId/replay"
          params={{ sessionId: session.id }}
          size="xs"
          variant="default"
        >
          {t('recording.section.scrubBack')}
        </LinkButton>
      )}
    </Group>
  )
}

/** Returns the states that follow from a log, as a recording has them. */
function changesOf(events: readonly SessionLogEvent[]): StopEntry[] {
  let state: Omit<StopEntry, 'atMs'> = { status: 'PENDING', isConnected: true, stop: null }
  return events.flatMap(({ type, at, data }) => {
    const before = state
    if (typeof data.status === 'string') state = { ...state, status: data.status }
    if (type === 'session.stopped') state = { ...state, stop: { reason: String(data.reason), latched: true } }
    if (type === 'session.stop_cleared') state = { ...state, stop: null }
    if (type === 'robot.lost' || type === 'robot.back')
      state = { ...state, isConnected: type === 'robot.back' }
    return state === before ? [] : [{ atMs: Date.parse(at), ...state }]
  })
}

function Rail(props: ConnectedProps & { fetchedAtMs: number }) {
  const { session, live, observerConnection, observerState } = props
  const marks = useEpisodeMarks(session.id, session.robot_id)
  const earns = 'operator_earnings_cents' in session
  return (
    <Tabs defaultValue="chat" className={styles.rail ?? ''}>
      <Tabs.List grow>
        <Tabs.Tab value="chat">{t('session.page.chat')}</Tabs.Tab>
        <Tabs.Tab value="log">{t('session.page.log')}</Tabs.Tab>
        <Tabs.Tab value="values">{t('session.page.values')}</Tabs.Tab>
        <Tabs.Tab value="cost">{earns ? t('session.page.earnings') : t('session.page.cost')}</Tabs.Tab>
        {marks.state && <Tabs.Tab value="episodes">{t('drive.episodes.title')}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="chat" className={styles.chat}>
        <ChatPanel live={live} height="var(--chat-height)" />
      </Tabs.Panel>
      <Tabs.Panel value="log">
        <Stack>
          <Part title={t('session.page.eventLog')}>
            <EventLog live={live} />
          </Part>
          <Part title={t('session.live.robotLog')}>
            <RobotLog lines={observerState?.logs ?? []} />
          </Part>
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="values" keepMounted={false}>
        {observerConnection && (
          <TelemetryView
            subscribe={observerConnection.subscribe}
            telemetrySchema={session.telemetry_schema}
          />
        )}
        <FoxgloveButton sessionId={session.id} />
      </Tabs.Panel>
      <Tabs.Panel value="cost">
        <Stack>
          <LiveStatus {...props} />
          <Part title={t('session.live.extension')}>
            <ExtensionPanel live={live} />
          </Part>
        </Stack>
      </Tabs.Panel>
      {marks.state && (
        <Tabs.Panel value="episodes">
          <EpisodePanel marks={marks} />
        </Tabs.Panel>
      )}
    </Tabs>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={2} mb="xs">
      {title}
    </Title>
    {children}
  </section>
)

const RobotLog = ({ lines }: { lines: ObserverState['logs'] }) =>
  lines.length === 0 ? (
    <Text c="dimmed">{t('session.robotLog.empty')}</Text>
  ) : (
    <LogList
      label={t('session.robotLog.label')}
      maxHeight={240}
      lines={lines.map(({ number, level, message, at }) => (
        <LogLine
          key={number}
          time={<time dateTime={new Date(at).toISOString()}>{lineTime(at)}</time>}
          state={<LevelLabel level={level} />}
          isCode
        >
          {message}
        </LogLine>
      ))}
    />
  )
