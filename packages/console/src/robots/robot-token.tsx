import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ConnectRobot } from './connect-robot.tsx'
import type { Robot } from './use-robots.ts'

/** Replacing the token; the new one is shown this once. */
export function RobotToken({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const rotate = useMutation({
    mutationFn: () =>
      answerOf(rest.POST('/api/client/robots/{id}/token', { params: { path: { id: robot.id } } })),
    gcTime: 0,
  })
  if (rotate.data) {
    return (
      <>
        <ConnectRobot robot={robot} token={rotate.data.robot_token} />
        <Group>
          <Button variant="default" onClick={() => rotate.reset()}>
            Hide the token
          </Button>
        </Group>
      </>
    )
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        The robot connects with a token, which was shown when it was made. If it is lost, or somebody else may
        have it, replace it.
      </Text>
      <ConfirmButton
        variant="default"
        question={`Replace the token of ${robot.name}?`}
        consequence="The robot is disconnected at once, and its old token is worth nothing from now on. A session that is open waits for the robot to come back."
        confirmLabel="Replace"
        onConfirm={() => rotate.mutateAsync()}
      >
        Replace the token
      </ConfirmButton>
    </Group>
  )
}
