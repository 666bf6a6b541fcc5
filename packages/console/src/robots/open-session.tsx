import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { ReleaseRobot } from '../session/notices.tsx'
import { StatusBadge } from '../session/status-badge.tsx'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Section } from '../ui/section.tsx'
import type { Robot } from './use-robots.ts'

/** Shows the open session of a robot. The owner may end it at any time. */
export function OpenSession({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const { data: session } = useQuery({
    queryKey: [...keys.sessions, 'open-on', robot.id],
    queryFn: () => findOpen(rest, robot.id),
  })
  if (!session) return null
  return (
    <Section title={t('robots.openSession.title')}>
      <Group justify="space-between">
        <Group gap="xs">
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }}>
            {t('robots.openSession.operator', { operator: session.operator_name })}
          </LinkAnchor>
          <StatusBadge status={session.status} />
        </Group>
        <ReleaseRobot sessionId={session.id} robotName={robot.name}>
          {t('robots.openSession.release')}
        </ReleaseRobot>
      </Group>
      <Text size="sm" c="dimmed">
        {t('robots.openSession.note')}
      </Text>
    </Section>
  )
}

/** Returns the ACTIVE or PAUSED session of a robot. There is at most one. */
async function findOpen(rest: RestClient, robotId: string) {
  const lists = await Promise.all(
    (['ACTIVE', 'PAUSED'] as const).map((status) =>
      answerOf(rest.GET('/api/sessions', { params: { query: { robotId, status, limit: 1 } } })),
    ),
  )
  return lists.flatMap(({ sessions }) => sessions)[0] ?? null
}
