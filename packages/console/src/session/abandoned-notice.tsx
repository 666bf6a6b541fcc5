import { Alert, Group, Text } from '@mantine/core'
import { clockText } from '../ui/format.ts'
import { useNow } from '../ui/use-now.ts'
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
      title="Operator gone"
      data-testid="abandoned"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {session.ends_at === null ? (
            'The operator has no connection. If it does not return, the session ends.'
          ) : (
            <Countdown endsAt={session.ends_at} />
          )}
        </Text>
        {client && (
          <ReleaseRobot sessionId={session.id} robotName={session.robot_name}>
            Release robot
          </ReleaseRobot>
        )}
      </Group>
    </Alert>
  )
}

function Countdown({ endsAt }: { endsAt: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(endsAt) - useNow()) / 1_000))
  return (
    <>
      The session ends in <span data-testid="countdown">{clockText(seconds)}</span> unless the operator
      returns.
    </>
  )
}
