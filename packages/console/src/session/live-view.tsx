import { Group, Paper, ScrollArea, Stack, Text } from '@mantine/core'
import { type CSSProperties, type ReactNode, useState } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { EpisodePanel, useEpisodeMarks } from '../episodes/episode-panel.tsx'
import { FreshnessBadge } from '../freshness/freshness-badge.tsx'
import { useFreshness, useIsSilent, useReportOutdated } from '../freshness/use-freshness.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { RecordingMark, SessionRecording } from '../recording/recording-mark.tsx'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { useSessionCameras } from '../video/use-cameras.ts'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import { ChatPanel } from './chat-panel.tsx'
import { useStopText } from './clear-stop.tsx'
import { EventLog, LevelLabel, lineTime } from './event-log.tsx'
import { ExtensionPanel } from './extension-panel.tsx'
import { FoxgloveButton } from './foxglove-dialog.tsx'
import { LiveStatus, SessionStatusLine } from './live-status.tsx'
import { AbandonedNotice, ConnectionProblem } from './notices.tsx'
import {
  type ObserverConnection,
  type ObserverState,
  useObserverConnection,
  useObserverState,
} from './observer-connection.ts'
import styles from './panels.module.css'
import { SessionActions } from './session-actions.tsx'
import { type SessionDetail, useSessionRoles } from './session-query.ts'
import { StopBar, useStop } from './stop-bar.tsx'

/** Lists the robot's log lines since the page connected, newest first. */
function RobotLogPanel({ observerState }: { observerState: ObserverState | undefined }) {
  const lines = observerState?.logs ?? []
  if (lines.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('session.robotLog.empty')}
      </Text>
    )
  }
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

interface Props {
  readonly session: SessionDetail
  readonly fetchedAtMs: number
  readonly live: LiveSession
}

/** Shows an open session: video, telemetry, stop, chat and log. */
export function LiveView({ session, fetchedAtMs, live }: Props) {
  const { operator, client } = useSessionRoles(session)
  const observerConnection = useObserverConnection(session.id, true)
  const observerState = useObserverState(observerConnection)
  const telemetrySchema = useTelemetrySchema(session.telemetry_schema)
  const stop = useStop(live.room, observerConnection)
  const recordedStopText = useStopText(session)
  const inForce =
    recordedStopText || (observerState?.drive?.stop?.latched ? t('session.live.stopInForce') : undefined)
  // The operator sees the robot from the cockpit.
  const showsCamera = client || !operator
  const [watch, setWatch] = useState<VideoWatch>()
  const cameras = useSessionCameras(session, 'watch')
  const isOutdated = useIsSilent(observerConnection?.ages)
  useReportOutdated(isOutdated)
  return (
    <Stack>
      <SessionStatusLine session={session} live={live} observerState={observerState} isOutdated={isOutdated}>
        <RecordingMark sessionId={session.id} isUnknown={isOutdated} />
        {observerConnection && <Freshness watch={watch} observerConnection={observerConnection} />}
      </SessionStatusLine>
      <AbandonedNotice session={session} />
      <ConnectionProblem observerConnection={observerConnection} observerState={observerState} />
      <Panels
        main={
          <>
            {showsCamera && (
              <VideoView
                source={cameras.main?.source}
                title={t('session.live.camera', { robot: session.robot_name })}
                readLinkAges={observerConnection?.ages}
                onWatch={setWatch}
              />
            )}
            <LiveStatus
              session={session}
              fetchedAtMs={fetchedAtMs}
              live={live}
              observerState={observerState}
              isOutdated={isOutdated}
            />
          </>
        }
        telemetry={
          showsCamera && (
            <Paper withBorder p="md">
              {observerConnection && (
                <TelemetryView subscribe={observerConnection.subscribe} schema={telemetrySchema} />
              )}
            </Paper>
          )
        }
        chat={
          <>
            <Section gap="xs" title={t('session.live.control')}>
              <SessionActions live={live} />
              <Group>
                {operator ? (
                  <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }} variant="default">
                    {t('session.live.openCockpit')}
                  </LinkButton>
                ) : (
                  <LinkButton to="/watch/$sessionId" params={{ sessionId: session.id }} variant="default">
                    {t('session.live.fullView')}
                  </LinkButton>
                )}
                <FoxgloveButton sessionId={session.id} />
              </Group>
            </Section>
            <SessionRecording sessionId={session.id} />
            <Episodes session={session} />
            <Section gap="xs" title={t('session.page.chat')}>
              <ChatPanel live={live} />
            </Section>
          </>
        }
        details={
          <>
            <Section gap="xs" title={t('session.live.extension')}>
              <ExtensionPanel live={live} />
            </Section>
            <Section gap="xs" title={t('session.live.robotLog')}>
              <RobotLogPanel observerState={observerState} />
            </Section>
            <Section gap="xs" title={t('session.page.eventLog')}>
              <EventLog live={live} />
            </Section>
          </>
        }
      />
      <StopBar stop={stop} inForce={inForce} />
    </Stack>
  )
}

/** Marks episodes from the page of the session. The operator marks them in the cockpit. */
function Episodes({ session }: { session: SessionDetail }) {
  const marks = useEpisodeMarks(session.id, session.robot_id)
  return (
    marks.state && (
      <Section gap="xs" title={t('drive.episodes.title')}>
        <EpisodePanel marks={marks} />
      </Section>
    )
  )
}

function Freshness(props: { watch: VideoWatch | undefined; observerConnection: ObserverConnection }) {
  return <FreshnessBadge freshness={useFreshness(useReadAges(props.watch, props.observerConnection.ages))} />
}

interface PanelsProps {
  /** The video and the panels directly below it. */
  readonly main: ReactNode
  /** Must not contain focusable elements, because its visual order differs from the DOM order. */
  readonly telemetry?: ReactNode
  readonly chat: ReactNode
  readonly details: ReactNode
  /** The width of the first column relative to the second. */
  readonly ratio?: number
}

/**
 * Lays out the panels of an open session. Desktops show two columns: `main` and `chat`, `telemetry` and `details`.
 * Phones show one column: `main`, `telemetry`, `chat`, `details`.
 */
const Panels = ({ main, telemetry, chat, details, ratio = 1 }: PanelsProps) => (
  <div className={styles.panels} style={{ '--first-column': `${ratio}fr` } as CSSProperties}>
    <div className={styles.column}>
      <div className={`${styles.panel} ${styles.main}`}>{main}</div>
      <div className={`${styles.panel} ${styles.chat}`}>{chat}</div>
    </div>
    <div className={styles.column}>
      {telemetry && <div className={`${styles.panel} ${styles.telemetry}`}>{telemetry}</div>}
      <div className={`${styles.panel} ${styles.details}`}>{details}</div>
    </div>
  </div>
)
