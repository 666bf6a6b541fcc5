import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { FreshnessBadge } from '../live/freshness-badge.tsx'
import type { LiveSession } from '../live/hooks.ts'
import { useFreshness, useIsSilent, useReportOutdated } from '../live/use-freshness.ts'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { useTelemetrySchema } from '../telemetry/use-telemetry-schema.ts'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { useReadAges, VideoView } from '../video/video-view.tsx'
import type { VideoWatch } from '../video/watch-video.ts'
import { AbandonedNotice } from './abandoned-notice.tsx'
import { ChatPanel } from './chat-panel.tsx'
import { useStopText } from './clear-stop.tsx'
import { EventLog } from './event-log.tsx'
import { ExtensionPanel } from './extension-panel.tsx'
import { LiveStatus, SessionStatusLine } from './live-status.tsx'
import type { ObserverConnection, ObserverState } from './observer-connection.ts'
import { Panels } from './panels.tsx'
import { RobotLogPanel } from './robot-log-panel.tsx'
import { SessionActions } from './session-actions.tsx'
import type { SessionDetail } from './session-query.ts'
import { useSessionRoles } from './session-roles.ts'
import { StopBar } from './stop-bar.tsx'
import { useObserverConnection, useObserverState } from './use-observer-connection.ts'
import { useStop } from './use-stop.ts'

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
    recordedStopText || (observerState?.drive?.stop?.latched ? 'A stop is in force.' : undefined)
  // The operator sees the robot from the cockpit.
  const showsCamera = client || !operator
  const [watch, setWatch] = useState<VideoWatch>()
  const isOutdated = useIsSilent(observerConnection?.ages)
  useReportOutdated(isOutdated)
  return (
    <Stack>
      <SessionStatusLine session={session} live={live} observerState={observerState} isOutdated={isOutdated}>
        {observerConnection && <Freshness watch={watch} observerConnection={observerConnection} />}
      </SessionStatusLine>
      <AbandonedNotice session={session} />
      <ConnectionProblem observerConnection={observerConnection} observerState={observerState} />
      <Panels
        main={
          <>
            {showsCamera && (
              <VideoView
                url={session.stream_url}
                title={`Camera of ${session.robot_name}`}
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
            <Section gap="xs" title="Control">
              <SessionActions live={live} />
              {operator && (
                <Group>
                  <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }} variant="default">
                    Open cockpit
                  </LinkButton>
                </Group>
              )}
            </Section>
            <Section gap="xs" title="Chat">
              <ChatPanel live={live} />
            </Section>
          </>
        }
        details={
          <>
            <Section gap="xs" title="Extension">
              <ExtensionPanel live={live} />
            </Section>
            <Section gap="xs" title="Robot log">
              <RobotLogPanel observerState={observerState} />
            </Section>
            <Section gap="xs" title="Event log">
              <EventLog live={live} />
            </Section>
          </>
        }
      />
      <StopBar stop={stop} inForce={inForce} />
    </Stack>
  )
}

function Freshness(props: { watch: VideoWatch | undefined; observerConnection: ObserverConnection }) {
  return <FreshnessBadge freshness={useFreshness(useReadAges(props.watch, props.observerConnection.ages))} />
}

/** Shows a notice while the live data from the gateway is outdated. */
function ConnectionProblem(props: {
  observerConnection: ObserverConnection | undefined
  observerState: ObserverState | undefined
}) {
  const { observerConnection, observerState } = props
  if (observerState === undefined || observerState.connection === 'online') return null
  const ended = observerState.connection === 'ended'
  return (
    <Alert color="orange.9" variant="outline" title={ended ? 'No live view' : 'Connecting to the robot'}>
      <Text size="sm">
        {ended ? observerState.problem : 'Status and telemetry are not current until the connection is open.'}
      </Text>
      {ended && (
        <Button mt="xs" variant="default" size="xs" onClick={() => observerConnection?.reconnect()}>
          Reconnect
        </Button>
      )}
    </Alert>
  )
}
