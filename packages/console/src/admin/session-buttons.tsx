import { Button, Group } from '@mantine/core'
import { useSessionAction } from '../session/session-roles.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import type { OpenSession } from './overview-query.ts'

/** Pauses or ends a session as an admin. The audit log records both actions. */
export function SessionButtons({ session }: { session: OpenSession }) {
  const sessionAction = useSessionAction(session.id)
  const label = (action: string) => `${action} the session on ${session.robot_name}`
  return (
    <>
      <Group gap="xs" grow>
        {session.status === 'ACTIVE' && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
            aria-label={label('Pause')}
          >
            Pause
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question={`End the session on ${session.robot_name}?`}
          consequence="The robot stops and becomes available. The charge is final. Owner and operator are notified, and the audit log records your name."
          confirmLabel="End session"
          onConfirm={() => sessionAction.mutateAsync('end')}
          aria-label={label('End')}
        >
          End
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'pause' ? sessionAction.error : undefined} />
    </>
  )
}
