import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { t } from '../../texts/texts.ts'
import { Problem } from '../../ui/states.tsx'

interface Props {
  readonly opened: boolean
  readonly onClose: () => void
  readonly onRemove: () => Promise<unknown>
}

/** Asks before a recording is deleted. */
export function RemoveDialog({ opened, onClose, onRemove }: Props) {
  const remove = useMutation({ mutationFn: onRemove })
  return (
    <Modal opened={opened} onClose={onClose} title={t('replay.remove.question')}>
      <Stack>
        <Text>{t('replay.remove.consequence')}</Text>
        <Problem error={remove.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('common.cancel')}
          </Button>
          <Button color="red.9" loading={remove.isPending} onClick={() => remove.mutate()}>
            {t('replay.remove.confirm')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
