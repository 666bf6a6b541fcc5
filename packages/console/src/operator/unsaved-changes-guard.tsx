import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { t } from '../texts/texts.ts'

/** Asks for confirmation before the user leaves a page with unsaved changes or closes the browser. */
export function UnsavedChangesGuard({ when }: { when: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => when,
    enableBeforeUnload: () => when,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={t('operator.leave.question')}>
      <Stack>
        <Text>{t('operator.leave.consequence')}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {t('operator.leave.stay')}
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            {t('operator.leave.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
