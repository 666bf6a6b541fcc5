import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { LinkButton } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useAvailability } from './queries.ts'

/** Shows the operator's open session. It blocks the start of another one. */
export function OpenSession() {
  const id = useAvailability().data?.open_session_id
  return id ? <Running sessionId={id} /> : null
}

function Running({ sessionId }: { sessionId: string }) {
  const { rest } = usePlatform()
  const { data: session, error } = useQuery({
    queryKey: [...keys.sessions, sessionId],
    queryFn: () => answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } } })),
  })
  return (
    <Card withBorder component="section" aria-label="Your open session">
      <Group justify="space-between">
        <Stack gap={4}>
          <Group gap="xs">
            <Title order={2}>{session ? `Session on ${session.robot_name}` : 'Session'}</Title>
            {session && (
              <Badge color={session.status === 'ACTIVE' ? 'teal.9' : 'orange.9'}>
                {session.status === 'ACTIVE' ? 'Active' : 'Paused'}
              </Badge>
            )}
          </Group>
          {session?.started_at && (
            <Text c="dimmed" size="sm">
              Started <Time at={session.started_at} />
            </Text>
          )}
          <Problem error={error} />
        </Stack>
        <LinkButton to="/drive/$sessionId" params={{ sessionId }}>
          Continue driving
        </LinkButton>
      </Group>
    </Card>
  )
}
