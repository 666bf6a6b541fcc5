import { Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
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
            {t('robots.token.hide')}
          </Button>
        </Group>
      </>
    )
  }
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('robots.token.note')}
      </Text>
      <ConfirmButton
        variant="default"
        question={t('robots.token.question', { robot: robot.name })}
        consequence={t('robots.token.consequence')}
        confirmLabel={t('robots.token.confirm')}
        onConfirm={() => rotate.mutateAsync()}
      >
        {t('robots.token.replace')}
      </ConfirmButton>
    </Group>
  )
}
