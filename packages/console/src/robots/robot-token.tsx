import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../app/platform.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { ConnectRobot } from './connect-robot.tsx'
import type { Robot } from './use-robots.ts'

/** Replaces the robot token and shows the new one once. */
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
            Hide token
          </Button>
        </Group>
      </>
    )
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        The robot connects with a token that was shown once. Replace it if it is lost or leaked.
      </Text>
      <ConfirmButton
        variant="default"
        question={`Replace the token of ${robot.name}?`}
        consequence="The robot disconnects and its old token stops working immediately. An open session pauses until the robot reconnects."
        confirmLabel="Replace"
        onConfirm={() => rotate.mutateAsync()}
      >
        Replace token
      </ConfirmButton>
    </Group>
  )
}
