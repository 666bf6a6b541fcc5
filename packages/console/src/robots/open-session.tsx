import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type RestClient } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useSessionAction } from '../session/session-roles.ts'
import { StatusBadge } from '../session/status-badge.tsx'
import { ConfirmButton } from '../ui/confirm-button.tsx'
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
    <Section title="Open session">
      <Group justify="space-between">
        <Group gap="xs">
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }}>
            Operated by {session.operator_name}
          </LinkAnchor>
          <StatusBadge status={session.status} />
        </Group>
        <Release robot={robot} sessionId={session.id} />
      </Group>
      <Text size="sm" c="dimmed">
        You can end the session at any time, even while it is paused.
      </Text>
    </Section>
  )
}

function Release({ robot, sessionId }: { robot: Robot; sessionId: string }) {
  const sessionAction = useSessionAction(sessionId)
  return (
    <ConfirmButton
      variant="default"
      question={`Release ${robot.name}?`}
      consequence="This ends the session. The robot stops and becomes available. The charge is final. You cannot undo this."
      confirmLabel="End session"
      onConfirm={() => sessionAction.mutateAsync('end')}
    >
      Release robot
    </ConfirmButton>
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
