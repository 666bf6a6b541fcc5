import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { SessionStatus } from '@wheelhouse/protocol'
import type { SessionDetail } from '../session/session-query.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import { useAct } from './use-act.ts'

/** Pause, resume and end. */
export function SessionActs({ session, status }: { session: SessionDetail; status: SessionStatus }) {
  const act = useAct(session.id)
  const change = useMutation({ mutationFn: act })
  const paused = status === 'PAUSED'
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Button
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate(paused ? 'resume' : 'pause')}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <ConfirmButton
          variant="default"
          question="End this session?"
          consequence={`${session.robot_name} is stopped and released, and the session is charged.`}
          act="End the session"
          onConfirm={() => act('end')}
        >
          End
        </ConfirmButton>
        {paused && (
          <Text size="sm" c="dimmed">
            Paused{session.pause_reason ? `: ${session.pause_reason}` : ''}. The robot stands, and nothing is
            charged.
          </Text>
        )}
      </Group>
      <Problem error={change.error} />
    </Stack>
  )
}
