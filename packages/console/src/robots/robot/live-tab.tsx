import { Paper, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { LiveRobot } from '../../live/live-robots.tsx'
import { useIsSilent, useReportOutdated } from '../../live/use-freshness.ts'
import { usePlatform } from '../../platform/platform.ts'
import { type LiveSession, useLiveSession } from '../../platform/use-live.ts'
import { RecordingMark } from '../../recording/recording-mark.tsx'
import { useStopText } from '../../session/clear-stop.tsx'
import { LiveStatus, SessionStatusLine } from '../../session/live-status.tsx'
import { AbandonedNotice } from '../../session/notices.tsx'
import { useObserverConnection, useObserverState } from '../../session/observer-connection.ts'
import { SessionActions } from '../../session/session-actions.tsx'
import { type SessionDetail, sessionQuery } from '../../session/session-query.ts'
import { StopBar, useStop } from '../../session/stop-bar.tsx'
import { TelemetryView, useTelemetrySchema } from '../../telemetry/telemetry-view.tsx'
import { t } from '../../texts/texts.ts'
import { Section } from '../../ui/section.tsx'
import { useRobotCameras } from '../../video/use-cameras.ts'
import { VideoView } from '../../video/video-view.tsx'
import { OpenSession } from '../open-session.tsx'
import { RobotLogs } from '../robot-logs.tsx'
import type { RobotDetail } from '../use-robots.ts'
import { RobotDetails } from './robot-details.tsx'

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
