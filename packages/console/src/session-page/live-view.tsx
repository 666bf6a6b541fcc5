import { Group, ScrollArea, Stack, Tabs, Text, Title } from '@mantine/core'
import { useEffect, useState } from 'react'
import { LinkButton } from '../base/links.tsx'
import { EpisodePanel, useEpisodeMarks } from '../episodes/episode-panel.tsx'
import { useIsSilent, useReportOutdated } from '../freshness/use-freshness.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { RecordingMark } from '../recording/recording-mark.tsx'
import { ChatPanel } from '../session/chat-panel.tsx'
import { EventLog, LevelLabel, lineTime } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import { FoxgloveButton } from '../session/foxglove-dialog.tsx'
import { LiveStatus, SessionStatusLine } from '../session/live-status.tsx'
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
import { StopPlate } from '../session/stop-plate.tsx'
import { TrustBadge } from '../status/trust-badge.tsx'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras } from '../video/use-cameras.ts'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import { SessionBand } from './session-band.tsx'

interface Props {
  readonly session: SessionDetail
  readonly fetchedAtMs: number
  readonly live: LiveSession
}

/** Shows an open session: a large picture with the stop in its corner, what has happened so far, and a rail of tabs. */
export function LiveView({ session, fetchedAtMs, live }: Props) {
  const { operator, client } = useSessionRoles(session)
  const observerConnection = useObserverConnection(session.id, true)
  const observerState = useObserverState(observerConnection)
  const stop = useStop(live.room, observerConnection)
  const isStopped = session.control.stop !== null || observerState?.drive?.stop?.latched === true
  const isOutdated = useIsSilent(observerConnection?.ages)
  useReportOutdated(isOutdated)
  const title = t('session.page.titleOn', { robot: session.robot_name })
  useEffect(() => {
    document.title = `${title} · ${t('common.product')}`
  }, [title])
  const shared = { session, live, observerState, isOutdated }
  return (
    <div className={styles.live}>
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
            <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }}>
              {t('session.live.openCockpit')}
            </LinkButton>
          ) : (
            <LinkButton to="/watch/$sessionId" params={{ sessionId: session.id }} variant="default">
              {t('session.live.fullView')}
            </LinkButton>
          )}
        </Group>
      </Group>
      {isStopped && <StopPlate session={session} live={live} />}
      <AbandonedNotice session={session} />
      <ConnectionProblem observerConnection={observerConnection} observerState={observerState} />
      <div className={styles.columns}>
        <div className={styles.main}>
          <Picture
            {...shared}
            // The operator sees the robot from the cockpit.
            showsCamera={client || !operator}
            isStopped={isStopped}
            observerConnection={observerConnection}
          />
          <SessionBand session={session} events={live.events} />
        </div>
        <Rail {...shared} fetchedAtMs={fetchedAtMs} observerConnection={observerConnection} />
      </div>
      <StopBar stop={stop} inForce={isStopped ? '' : undefined} />
    </div>
  )
}

interface PictureProps {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly showsCamera: boolean
  readonly isStopped: boolean
  readonly observerConnection: ObserverConnection | undefined
  readonly observerState: ObserverState | undefined
}

/** The large picture, with how far it can be trusted. The stop lies in its lower left corner. */
function Picture(props: PictureProps) {
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
          layout="fill"
          readLinkAges={observerConnection?.ages}
          onWatch={setWatch}
        />
      ) : (
        <p className={styles.elsewhere}>{t('session.live.inCockpit')}</p>
      )}
      <div className={styles.chips}>
        {observerConnection && <TrustBadge readAges={readAges} robot={robot} isOnPicture />}
      </div>
    </div>
  )
}

interface RailProps extends Props {
  readonly isOutdated: boolean
  readonly observerConnection: ObserverConnection | undefined
  readonly observerState: ObserverState | undefined
}

function Rail({ session, fetchedAtMs, live, observerConnection, observerState, isOutdated }: RailProps) {
  const telemetrySchema = useTelemetrySchema(session.telemetry_schema)
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
            <RobotLogPanel observerState={observerState} />
          </Part>
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="values" keepMounted={false}>
        {observerConnection && (
          <TelemetryView subscribe={observerConnection.subscribe} schema={telemetrySchema} />
        )}
        <FoxgloveButton sessionId={session.id} />
      </Tabs.Panel>
      <Tabs.Panel value="cost">
        <Stack>
          <LiveStatus
            session={session}
            fetchedAtMs={fetchedAtMs}
            live={live}
            observerState={observerState}
            isOutdated={isOutdated}
          />
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

const Part = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <section aria-label={title}>
    <Title order={2} mb="xs">
      {title}
    </Title>
    {children}
  </section>
)

/** Lists the robot's log lines since the page connected, newest first. */
function RobotLogPanel({ observerState }: { observerState: ObserverState | undefined }) {
  const lines = observerState?.logs ?? []
  if (lines.length === 0) return <Text c="dimmed">{t('session.robotLog.empty')}</Text>
  return (
    <ScrollArea.Autosize
      mah={240}
      viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t('session.robotLog.label') }}
    >
      <Stack gap={4} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {lines.map(({ number, level, message, at }) => (
          <Group component="li" key={number} gap="xs" wrap="nowrap" align="baseline">
            <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
              <time dateTime={new Date(at).toISOString()}>{lineTime(at)}</time>
            </Text>
            <LevelLabel level={level} />
            <Text size="sm" style={{ overflowWrap: 'anywhere' }} translate="no">
              {message}
            </Text>
          </Group>
        ))}
      </Stack>
    </ScrollArea.Autosize>
  )
}
