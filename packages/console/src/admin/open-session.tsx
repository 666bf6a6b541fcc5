import { Badge, Card, Group, Stack, Text } from '@mantine/core'
import { reasonText } from '@wheelhouse/protocol'
import { StatusBadge } from '../session/status-badge.tsx'
import { LinkAnchor } from '../ui/links.tsx'
import { Time } from '../ui/time.tsx'
import type { OpenSession } from './overview-query.ts'
import { SessionButtons } from './session-buttons.tsx'
import { StopButton } from './stop-button.tsx'

/** Shows an open session: robot, operator, start and stop state. */
export const OpenSessionCard = ({ session }: { session: OpenSession }) => (
  <Card withBorder padding="sm" h="100%" component="article" aria-label={`Session on ${session.robot_name}`}>
    <Stack gap="xs" justify="space-between" h="100%">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} fw={600}>
            {session.robot_name}
          </LinkAnchor>
          <Text size="sm">
            Operator {session.operator_name}, owner {session.client_name}
          </Text>
          <Text size="sm" c="dimmed">
            {session.robot_type} · started <Time at={session.started_at} />
          </Text>
        </div>
        <Stack gap={4} align="flex-end">
          <StatusBadge status={session.status} />
          {!session.robot_connected && <Badge color="red.9">Robot offline</Badge>}
        </Stack>
      </Group>
      <StopState session={session} />
      <StopButton session={session} />
      <SessionButtons session={session} />
    </Stack>
  </Card>
)

function StopState({ session: { stop, pause_reason } }: { session: OpenSession }) {
  if (stop) {
    return (
      <Text size="sm" c="var(--mantine-color-error)" fw={600}>
        Stopped{stop.by_name && ` by ${stop.by_name}`} <Time at={stop.at} />
        {stop.reason !== 'emergency_stop' && `: ${reasonText(stop.reason)}`}
      </Text>
    )
  }
  if (!pause_reason) return null
  return <Text size="sm">Paused: {reasonText(pause_reason)}</Text>
}
