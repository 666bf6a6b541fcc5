import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
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
    <Modal opened={isAsking} onClose={() => reset?.()} title={`Stop driving ${robotName}?`}>
      <Stack>
        <Text>The robot stops. The session stays open and pauses after a few seconds.</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            Keep driving
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            Leave cockpit
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
