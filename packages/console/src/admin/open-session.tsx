import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core'
import { useSessionAction } from '../session/session-query.ts'
import { StatusBadge } from '../session/status-badge.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { LinkAnchor } from '../ui/links.tsx'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import type { OpenSession } from './overview-query.ts'
import { StopButton } from './stop-button.tsx'

/** Pauses or ends a session as an admin. The audit log records both actions. */
function SessionButtons({ session }: { session: OpenSession }) {
  const sessionAction = useSessionAction(session.id)
  const robot = session.robot_name
  return (
    <>
      <Group gap="xs" grow>
        {session.status === 'ACTIVE' && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
            aria-label={t('admin.sessionActions.pauseLabel', { robot })}
          >
            {t('admin.sessionActions.pause')}
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question={t('admin.sessionActions.endQuestion', { robot })}
          consequence={t('admin.sessionActions.endConsequence')}
          confirmLabel={t('admin.sessionActions.endSession')}
          onConfirm={() => sessionAction.mutateAsync('end')}
          aria-label={t('admin.sessionActions.endLabel', { robot })}
        >
          {t('admin.sessionActions.end')}
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'pause' ? sessionAction.error : undefined} />
    </>
  )
}

/** Shows an open session: robot, operator, start and stop state. */
export const OpenSessionCard = ({ session }: { session: OpenSession }) => (
  <Card
    withBorder
    padding="sm"
    h="100%"
    component="article"
    aria-label={t('admin.openSession.label', { robot: session.robot_name })}
  >
    <Stack gap="xs" justify="space-between" h="100%">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: session.id }} fw={600}>
            {session.robot_name}
          </LinkAnchor>
          <Text size="sm">
            {t('admin.openSession.participants', {
              operator: session.operator_name,
              owner: session.client_name,
            })}
          </Text>
          <Text size="sm" c="dimmed">
            {textParts('admin.openSession.started', {
              type: session.robot_type,
              time: <Time at={session.started_at} />,
            })}
          </Text>
        </div>
        <Stack gap={4} align="flex-end">
          <StatusBadge status={session.status} />
          {!session.robot_connected && <Badge color="red.9">{t('admin.openSession.offline')}</Badge>}
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
        {stopText(stop)}
      </Text>
    )
  }
  if (!pause_reason) return null
  return <Text size="sm">{t('admin.openSession.paused', { reason: reasonText(pause_reason) })}</Text>
}

/** Says when the stop was pressed, and by whom and why if the platform knows it. */
function stopText({ at, by_name: name, reason }: NonNullable<OpenSession['stop']>) {
  const parts = { time: <Time at={at} />, name, reason: reasonText(reason) }
  if (reason === 'emergency_stop')
    return textParts(name ? 'admin.openSession.stoppedBy' : 'admin.openSession.stopped', parts)
  return textParts(name ? 'admin.openSession.stoppedByFor' : 'admin.openSession.stoppedFor', parts)
}
