import { Alert, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { type RobotDetail, robotKey } from './use-robots.ts'

function useHold(robotId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (on_hold: boolean) =>
      answerOf(
        rest.PATCH('/api/client/robots/{id}', { params: { path: { id: robotId } }, body: { on_hold } }),
      ),
    onSuccess: (robot) => {
      queries.setQueryData(robotKey(robotId), robot)
      return queries.invalidateQueries({ queryKey: keys.robots })
    },
  })
}

/** Shows that a robot is on hold, with a button to release it. */
export function RobotHold({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  if (!robot.on_hold) return null
  return (
    <Alert
      color="orange.9"
      variant="light"
      title="On hold"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
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
          onConfirm={() => hold.mutateAsync(false)}
        >
          Release hold
        </ConfirmButton>
      </Group>
    </Alert>
  )
}

/** Sets a robot on hold, so that no session can start on it. */
export function HoldRobot({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  if (robot.on_hold) return <Text c="dimmed">The robot is on hold.</Text>
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        While a robot is on hold, no session can start on it. An open session continues.
      </Text>
      <ConfirmButton
        variant="default"
        question={`Hold ${robot.name}?`}
        consequence="No session can start on this robot until you release it. An open session continues."
        confirmLabel="Hold"
        confirmColor="orange.9"
        onConfirm={() => hold.mutateAsync(true)}
      >
        Hold robot
      </ConfirmButton>
    </Group>
  )
}
