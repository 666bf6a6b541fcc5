import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { LiveSession } from '../live/hooks.ts'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { LinkButton } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import { VideoView } from '../video/video-view.tsx'
import { ChatPanel } from './chat-panel.tsx'
import { useStopText } from './clear-stop.tsx'
import { EventLog } from './event-log.tsx'
import { ExtensionPanel } from './extension-panel.tsx'
import { LiveFacts, Standing } from './live-facts.tsx'
import { Panels } from './panels.tsx'
import { RobotLogPanel } from './robot-log-panel.tsx'
import { SessionActions } from './session-actions.tsx'
import type { SessionDetail } from './session-query.ts'
import { useSides } from './session-side.ts'
import { StopBar } from './stop-bar.tsx'
import { useStop } from './use-stop.ts'
import { useWatching, useWatchState } from './use-watching.ts'
import type { Watching, WatchState } from './watching.ts'

interface Props {
  readonly session: SessionDetail
  readonly toldAtMs: number
  readonly live: LiveSession
}

/** A session that is going on: seen, stopped, talked about. */
export function LiveView({ session, toldAtMs, live }: Props) {
  const { operator, client } = useSides(session)
  const watching = useWatching(session.id, true)
  const watched = useWatchState(watching)
  const stop = useStop(live.room, watching)
  const told = useStopText(session)
  const inForce = told || (watched?.drive?.stop?.latched ? 'A stop is in force.' : undefined)
  // The operator sees the robot from the cockpit.
  const watches = client || !operator
  return (
    <Stack>
      <Standing {...{ session, live, watched }} />
      <LinkProblem watching={watching} watched={watched} />
      <Panels
        seen={
          <>
            {watches && <VideoView url={session.stream_url} title={`Camera of ${session.robot_name}`} />}
            <LiveFacts {...{ session, toldAtMs, live, watched }} />
          </>
        }
        told={
          watches && (
            <Paper withBorder p="md">
              {watching && <TelemetryView subscribe={watching.subscribe} />}
            </Paper>
          )
        }
        talk={
          <>
            <Section gap="xs" title="Control">
              <SessionActions live={live} />
              {operator && (
                <Group>
                  <LinkButton to="/drive/$sessionId" params={{ sessionId: session.id }} variant="default">
                    Open the cockpit
                  </LinkButton>
                </Group>
              )}
            </Section>
            <Section gap="xs" title="Chat">
              <ChatPanel live={live} />
            </Section>
          </>
        }
        more={
          <>
            <Section gap="xs" title="More time">
              <ExtensionPanel live={live} />
            </Section>
            <Section gap="xs" title="Robot log">
              <RobotLogPanel watched={watched} />
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

/** Says when what the gateway tells is not of now. */
function LinkProblem(props: { watching: Watching | undefined; watched: WatchState | undefined }) {
  const { watching, watched } = props
  if (watched === undefined || watched.connection === 'online') return null
  const ended = watched.connection === 'ended'
  return (
    <Alert color="orange" variant="outline" title={ended ? 'No live view' : 'Connecting to the robot'}>
      <Text size="sm">
        {ended ? watched.problem : 'What you see of the robot is not of now until the connection is there.'}
      </Text>
      {ended && (
        <Button mt="xs" variant="default" size="xs" onClick={() => watching?.renew()}>
          Connect again
        </Button>
      )}
    </Alert>
  )
}
