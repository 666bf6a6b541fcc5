import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { LinkCard } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { StatusBadge } from './status-badge.tsx'

/** The sessions of this person. */
export function SessionsPage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'list'],
    queryFn: () => answerOf(rest.GET('/api/sessions')),
  })
  return (
    <Page title="Sessions">
      <QueryView
        query={query}
        isEmpty={({ sessions }) => sessions.length === 0}
        empty={<Empty title="No sessions yet" />}
      >
        {({ sessions }) => (
          <Stack gap="xs">
            {sessions.map((one) => (
              <LinkCard
                key={one.id}
                to="/sessions/$sessionId"
                params={{ sessionId: one.id }}
                withBorder
                padding="sm"
              >
                <Group justify="space-between">
                  <Text fw={600}>{one.robot_name}</Text>
                  <StatusBadge status={one.status} />
                </Group>
                <Text size="sm">
                  <Time at={one.created_at} exact />
                </Text>
              </LinkCard>
            ))}
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}
