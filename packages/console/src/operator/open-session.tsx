import { Badge, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
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
    <Card withBorder component="section" aria-label={t('operator.openSession.label')}>
      <Group justify="space-between">
        <Stack gap={4}>
          <Group gap="xs">
            <Title order={2}>
              {session
                ? t('operator.openSession.title', { robot: session.robot_name })
                : t('operator.openSession.session')}
            </Title>
            {session && (
              <Badge color={session.status === 'ACTIVE' ? 'teal.9' : 'orange.9'}>
                {session.status === 'ACTIVE' ? sessionStatusTexts.ACTIVE : sessionStatusTexts.PAUSED}
              </Badge>
            )}
          </Group>
          {session?.started_at && (
            <Text c="dimmed" size="sm">
              {textParts('operator.openSession.started', { time: <Time at={session.started_at} /> })}
            </Text>
          )}
          <Problem error={error} />
        </Stack>
        <LinkButton to="/drive/$sessionId" params={{ sessionId }}>
          {t('operator.openSession.continue')}
        </LinkButton>
      </Group>
    </Card>
  )
}
