import { Alert, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
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
      variant="outline"
      title={t('robots.hold.title')}
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {t('robots.hold.text')}
        </Text>
        <ConfirmButton
          variant="default"
          question={t('robots.hold.releaseQuestion', { robot: robot.name })}
          consequence={t('robots.hold.releaseConsequence')}
          confirmLabel={t('robots.hold.releaseConfirm')}
          onConfirm={() => hold.mutateAsync(false)}
        >
          {t('robots.hold.release')}
        </ConfirmButton>
      </Group>
    </Alert>
  )
}

/** Sets a robot on hold, so that no session can start on it. */
export function HoldRobot({ robot }: { robot: RobotDetail }) {
  const hold = useHold(robot.id)
  if (robot.on_hold) return <Text c="dimmed">{t('robots.hold.alreadyOnHold')}</Text>
  return (
    <Group justify="space-between">
      <Text c="dimmed" maw={640}>
        {t('robots.hold.note')}
      </Text>
      <ConfirmButton
        variant="default"
        question={t('robots.hold.holdQuestion', { robot: robot.name })}
        consequence={t('robots.hold.holdConsequence')}
        confirmLabel={t('robots.hold.holdConfirm')}
        confirmColor="orange.9"
        onConfirm={() => hold.mutateAsync(true)}
      >
        {t('robots.hold.hold')}
      </ConfirmButton>
    </Group>
  )
}
