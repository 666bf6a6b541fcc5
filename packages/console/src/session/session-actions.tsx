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

/** Shows the actions that the user may perform on a session. */
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
  const isParticipant = sessionRoles.operator || sessionRoles.client
  if (session.status === 'PENDING' && !isParticipant) return null
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
          consequence="The robot stops and becomes available. The charge is final. You cannot undo this."
          confirmLabel="End session"
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

/** Returns what a paused session needs to resume. */
function nextStep(isOperator: boolean, stop: SessionDetail['control']['stop'], connected: boolean): string {
  if (stop && !stop.may_clear) {
    return 'Stopped. Only the owner or an admin can clear this stop. Ask them when it is safe.'
  }
  if (stop?.may_clear && stop.clear_requested_at && !isOperator) {
    return 'The operator asks you to clear the stop. Check the robot first.'
  }
  if (stop) return 'Stopped. Clear the stop, then the operator can resume.'
  if (!connected) return 'The robot lost its connection. Resume when it is back online.'
  return isOperator ? 'Resume when you are ready to drive.' : 'Waiting for the operator to resume.'
}

/** Starts or cancels a scheduled session. */
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
            aria-label={`Start now: ${session.robot_name}`}
          >
            Start now
          </Button>
        )}
        <ConfirmButton
          size={size}
          variant="default"
          question="Cancel this session?"
          consequence="A cancelled session is free of charge. The other participant is notified."
          confirmLabel="Cancel session"
          dismissLabel="Keep session"
          onConfirm={() => sessionAction.mutateAsync('cancel')}
          aria-label={`Cancel: ${session.robot_name}`}
        >
          Cancel
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'start' ? sessionAction.error : undefined} />
    </Stack>
  )
}
