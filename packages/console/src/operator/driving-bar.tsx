import { Group, Paper, Text } from '@mantine/core'
import { clockText } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { useNow } from '../base/time.tsx'
import { clockOf } from '../drive/session-clock.ts'
import { useSession } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { useAvailability } from './queries.ts'

/** Reminds an operator on all other pages of their open session, and leads back to its cockpit. */
export default function DrivingBar() {
  const sessionId = useAvailability().data?.open_session_id
  return sessionId ? <OpenSession sessionId={sessionId} /> : null
}

function OpenSession({ sessionId }: { sessionId: string }) {
  const { data: session } = useSession(sessionId)
  const nowMs = useNow()
  if (!session) return null
  const clock = clockOf(session, nowMs)
  return (
    <Paper
      component="section"
      aria-label={t('drive.reminder.label')}
      withBorder
      px="sm"
      py={4}
      mb="md"
      maw={1416}
      mx="auto"
      data-testid="driving-bar"
    >
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {session.status === 'ACTIVE'
            ? t('drive.reminder.driving', { robot: session.robot_name })
            : t('drive.reminder.paused', { robot: session.robot_name })}
          {clock && ` · ${clockText(clock.elapsedMs / 1_000)}`}
        </Text>
        <LinkButton to="/drive/$sessionId" params={{ sessionId }} size="compact-sm" style={{ flex: 'none' }}>
          {t('drive.reminder.return')}
        </LinkButton>
      </Group>
    </Paper>
  )
}
