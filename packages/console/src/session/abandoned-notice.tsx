import { Alert, Group, Text } from '@mantine/core'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { clockText } from '../ui/format.ts'
import { useNow } from '../ui/time.tsx'
import { ReleaseRobot } from './release-robot.tsx'
import type { SessionDetail } from './session-query.ts'
import { useSessionRoles } from './session-roles.ts'

/** Shows that the operator of a paused session is gone, when the session ends, and lets the owner release the robot. */
export function AbandonedNotice({ session }: { session: SessionDetail }) {
  const { client } = useSessionRoles(session)
  if (session.status !== 'PAUSED' || session.control.operator_gone_since === null) return null
  return (
    <Alert
      color="orange.9"
      variant="outline"
      title={t('session.abandoned.title')}
      data-testid="abandoned"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {session.ends_at === null ? t('session.abandoned.text') : <Countdown endsAt={session.ends_at} />}
        </Text>
        {client && (
          <ReleaseRobot sessionId={session.id} robotName={session.robot_name}>
            {t('session.abandoned.release')}
          </ReleaseRobot>
        )}
      </Group>
    </Alert>
  )
}

function Countdown({ endsAt }: { endsAt: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(endsAt) - useNow()) / 1_000))
  return textParts('session.abandoned.countdown', {
    time: <span data-testid="countdown">{clockText(seconds)}</span>,
  })
}
