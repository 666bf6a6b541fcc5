import { Group, Paper, ScrollArea, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { FoxgloveButton } from '../foxglove/foxglove-button.tsx'
import { FreshnessBadge } from '../live/freshness-badge.tsx'
import { useFreshness, useIsSilent, useReportOutdated } from '../live/use-freshness.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { EpisodePanel, useEpisodeMarks } from '../recording/episode-panel.tsx'
import { RecordingMark, SessionRecording } from '../recording/recording-mark.tsx'
import { LevelBadge, lineTime } from '../robots/log-line.tsx'
import { TelemetryView, useTelemetrySchema } from '../telemetry/telemetry-view.tsx'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { useSessionCameras } from '../video/use-cameras.ts'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import { AbandonedNotice } from './abandoned-notice.tsx'
import { ChatPanel } from './chat-panel.tsx'
import { useStopText } from './clear-stop.tsx'
import { ConnectionProblem } from './connection-problem.tsx'
import { EventLog } from './event-log.tsx'
import { ExtensionPanel } from './extension-panel.tsx'
import { LiveStatus, SessionStatusLine } from './live-status.tsx'
import type { ObserverConnection, ObserverState } from './observer-connection.ts'
import { Panels } from './panels.tsx'
import { SessionActions } from './session-actions.tsx'
import type { SessionDetail } from './session-query.ts'
import { useSessionRoles } from './session-roles.ts'
import { StopBar } from './stop-bar.tsx'
import { useObserverConnection, useObserverState } from './use-observer-connection.ts'
import { useStop } from './use-stop.ts'

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
            <LevelBadge level={level} />
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
