import { Alert, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type RobotDetail, robotKey } from './use-robots.ts'

/** Shows that a robot is on hold, with a button to release it. */
export function RobotHold({ robot }: { robot: RobotDetail }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const release = useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/client/robots/{id}', {
          params: { path: { id: robot.id } },
          body: { on_hold: false },
        }),
      ),
    onSuccess: (released) => {
      queries.setQueryData(robotKey(robot.id), released)
      return queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
  if (!robot.on_hold) return null
  return (
    <Alert color="orange.9" variant="light" title="On hold">
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          No session can start on this robot. Either a session ended while a stop by you or an admin was in
          force, or you set the hold yourself.
        </Text>
        <ConfirmButton
          variant="default"
          question={`Release ${robot.name}?`}
          consequence="Operators can start sessions on this robot again. Make sure that it is safe to move."
          confirmLabel="Release"
          onConfirm={() => release.mutateAsync()}
        >
          Release hold
        </ConfirmButton>
      </Group>
    </Alert>
  )
}
