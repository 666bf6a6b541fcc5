import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'

/** Asks for confirmation before the operator leaves the cockpit of a robot that can be driven. The robot halts then. */
export function LeaveGuard({ cockpit, robotName }: { cockpit: Cockpit; robotName: string }) {
  const isDriving = () => cockpit.operatorConnection.canDrive()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isDriving,
    enableBeforeUnload: isDriving,
    withResolver: true,
  })
  const isAsking = status === 'blocked'
  useEffect(() => {
    if (isAsking) cockpit.release()
  }, [isAsking, cockpit])
  return (
    <Modal
      opened={isAsking}
      onClose={() => reset?.()}
      title={t('drive.leave.question', { robot: robotName })}
    >
      <Stack>
        <Text>{t('drive.leave.consequence')}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {t('drive.leave.keep')}
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            {t('drive.leave.confirm')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
