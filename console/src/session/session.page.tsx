import { Paper, SimpleGrid, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { usePlatform } from '../app/platform.ts'
import { useLiveSession } from '../live/hooks.ts'
import { Page } from '../ui/page.tsx'
import { QueryView } from '../ui/states.tsx'
import { ChatPanel } from './chat-panel.tsx'
import { EventLog } from './event-log.tsx'
import { sessionQuery } from './session-query.ts'
import { StatusBadge } from './status-badge.tsx'

/** One session: as it is going on, or as it was. */
export function SessionPage() {
  const { sessionId } = useParams({ from: '/shell/sessions/$sessionId' })
  const { rest } = usePlatform()
  const live = useLiveSession(sessionId)
  const query = useQuery(sessionQuery(rest, sessionId))
  return (
    <Page title={query.data ? `Session on ${query.data.robot_name}` : 'Session'}>
      <QueryView query={query}>
        {(session) => (
          <>
            <StatusBadge status={live?.session?.status ?? session.status} />
            {live && (
              <SimpleGrid cols={{ base: 1, md: 2 }}>
                <Paper withBorder p="md">
                  <Title order={2}>Chat</Title>
                  <ChatPanel live={live} />
                </Paper>
                <Paper withBorder p="md">
                  <Title order={2}>Event log</Title>
                  <EventLog live={live} />
                </Paper>
              </SimpleGrid>
            )}
          </>
        )}
      </QueryView>
    </Page>
  )
}
