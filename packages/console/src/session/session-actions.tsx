import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePlatform } from '../app/platform.ts'
import { useMe } from '../auth/me.ts'
import type { LiveSession } from '../live/hooks.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import { StopClearing } from './clear-stop.tsx'
import { type SessionDetail, sessionQuery } from './session-query.ts'
import { isOpen, useSessionAction, useSessionRoles } from './session-roles.ts'

/** What the signed-in user may do with an open session: pause, clear the stop, resume, end. */
export function SessionActions({ live }: { live: LiveSession }) {
  const { rest } = usePlatform()
  const { data } = useQuery(sessionQuery(rest, live.room.sessionId))
  if (!data) return null
  return <Actions session={{ ...data, status: live.session?.status ?? data.status }} />
}

function Actions({ session }: { session: SessionDetail }) {
  const sessionRoles = useSessionRoles(session)
  const sessionAction = useSessionAction(session.id)
  const isAdmin = useMe().roles.includes('admin')
  if (!sessionRoles.operator && !sessionRoles.client && !isAdmin) return null
  const isParty = sessionRoles.operator || sessionRoles.client
  if (session.status === 'PENDING' && !isParty) return null
  if (session.status === 'PENDING')
    return <ScheduledActions session={session} mayStart={sessionRoles.operator} />
  if (!isOpen(session.status)) return null
  const { stop, connected } = session.control
  const paused = session.status === 'PAUSED'
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {!paused && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
          >
            Pause
          </Button>
        )}
        {stop && <StopClearing session={session} />}
        {paused && sessionRoles.operator && (
          <Button
            disabled={stop !== null || !connected}
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('resume')}
          >
            Resume
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question="End this session?"
          consequence="The robot stops and is free for others. What the session costs is fixed. This cannot be undone."
          confirmLabel="End the session"
          onConfirm={() => sessionAction.mutateAsync('end')}
        >
          End
        </ConfirmButton>
      </Group>
      {paused && <Text size="sm">{nextStep(sessionRoles.operator, stop, connected)}</Text>}
      <Problem error={sessionAction.error} />
    </Stack>
  )
}

/** What has to happen before a paused session goes on. */
function nextStep(isOperator: boolean, stop: SessionDetail['control']['stop'], connected: boolean): string {
  if (stop && !stop.may_clear) {
    return 'A stop is in force that only the owner or an admin can clear. Ask them once nothing is in danger.'
  }
  if (stop?.may_clear && stop.clear_requested_at && !isOperator) {
    return 'The operator asks you to clear the stop. Look at the robot first.'
  }
  if (stop) return 'A stop is in force. Once it is cleared, the session goes on when its operator resumes it.'
  if (!connected) return 'The robot has lost its connection. The session can go on when it is back.'
  return isOperator ? 'Resume when you are ready to drive.' : 'It goes on when its operator resumes it.'
}

/** Starting and cancelling what is scheduled. */
export function ScheduledActions(props: {
  session: { readonly id: string; readonly robot_name: string }
  mayStart: boolean
  size?: 'xs' | 'sm'
}) {
  const { session, mayStart, size = 'sm' } = props
  const sessionAction = useSessionAction(session.id)
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {mayStart && (
          <Button
            size={size}
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('start')}
            aria-label={`Start now on ${session.robot_name}`}
          >
            Start now
          </Button>
        )}
        <ConfirmButton
          size={size}
          variant="default"
          question="Cancel this session?"
          consequence="It costs nothing. The other side is told."
          confirmLabel="Cancel the session"
          onConfirm={() => sessionAction.mutateAsync('cancel')}
          aria-label={`Cancel on ${session.robot_name}`}
        >
          Cancel
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'start' ? sessionAction.error : undefined} />
    </Stack>
  )
}
