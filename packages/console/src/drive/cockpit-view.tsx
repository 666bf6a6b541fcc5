import { Paper, Stack } from '@mantine/core'
import { ControlSchema, type SessionStatus } from '@wheelhouse/protocol'
import { useEffect, useState } from 'react'
import { usePlatform } from '../app/platform.ts'
import type { LiveSession } from '../live/hooks.ts'
import { ChatPanel } from '../session/chat-panel.tsx'
import { EventLog } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import { Panels } from '../session/panels.tsx'
import { SessionActions } from '../session/session-actions.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import { TelemetryView } from '../telemetry/telemetry-view.tsx'
import { useTelemetrySchema } from '../telemetry/use-telemetry-schema.ts'
import { Section } from '../ui/section.tsx'
import { Loading } from '../ui/states.tsx'
import { VideoView } from '../video/video-view.tsx'
import styles from './cockpit.module.css'
import { type Cockpit, openCockpit } from './cockpit.ts'
import { CommandInputs } from './command-inputs.tsx'
import { Controls } from './controls.tsx'
import { LinkNotice } from './link-notice.tsx'
import { StatusBar } from './status-bar.tsx'
import { Stick } from './stick.tsx'
import { StopBar } from './stop-bar.tsx'

interface Props {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly status: SessionStatus
}

/** Shows video, telemetry and controls of an open session to its operator. */
export function CockpitView({ session, live, status }: Props) {
  const cockpit = useCockpit(session, live)
  const telemetrySchema = useTelemetrySchema(session.telemetry_schema)
  if (!cockpit) return <Loading />
  return (
    <Stack gap="md" className={styles.cockpit}>
      <StatusBar cockpit={cockpit} status={status} />
      <LinkNotice operatorConnection={cockpit.operatorConnection} />
      <Panels
        ratio={2}
        main={
          <>
            <div className={styles.view}>
              <VideoView url={session.stream_url} title={`Camera of ${session.robot_name}`} />
              {cockpit.plan.drives && <Stick cockpit={cockpit} />}
            </div>
            <SessionActions live={live} />
            {cockpit.plan.drives && <Controls cockpit={cockpit} />}
            <CommandInputs cockpit={cockpit} />
          </>
        }
        telemetry={
          <Paper withBorder p="md">
            <TelemetryView
              subscribe={cockpit.operatorConnection.telemetry.subscribe}
              schema={telemetrySchema}
              predict={cockpit.predict}
            />
          </Paper>
        }
        chat={
          <Section gap="xs" title="Chat">
            <ChatPanel live={live} />
          </Section>
        }
        details={
          <>
            <Section gap="xs" title="Extension">
              <ExtensionPanel live={live} />
            </Section>
            <Section gap="xs" title="Event log">
              <EventLog live={live} />
            </Section>
          </>
        }
      />
      <StopBar cockpit={cockpit} session={session} live={live} />
    </Stack>
  )
}

/** Opens a cockpit while the component is mounted. Closing it sends a zero command to the robot. */
function useCockpit({ robot_id: robotId, control_schema }: SessionDetail, { room }: LiveSession) {
  const { rest } = usePlatform()
  const [cockpit, setCockpit] = useState<Cockpit>()
  // As text: a refetch returns a new object, which must not open another cockpit.
  const schemaText = JSON.stringify(control_schema)
  useEffect(() => {
    const opened = openCockpit({ rest, room, robotId, controlSchema: schemaOf(schemaText) })
    setCockpit(opened)
    return () => {
      opened.close()
      setCockpit(undefined)
    }
  }, [rest, room, robotId, schemaText])
  return cockpit
}

/** Returns a control schema; null without one, and for one that this page does not understand. */
function schemaOf(text: string): ControlSchema | null {
  const { data } = ControlSchema.safeParse(JSON.parse(text))
  return data ?? null
}
