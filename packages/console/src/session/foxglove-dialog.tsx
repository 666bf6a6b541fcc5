import { Button, Group, List, Modal, type ModalRootProps, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyableSecret } from '../base/copyable.tsx'
import { Problem } from '../base/states.tsx'
import { byId, useWrite } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'

/** Creates addresses that open a session in Foxglove or Lichtblick: live, or its recording. */
export const FoxgloveDialog = ({ sessionId, ...dialog }: ModalRootProps & { sessionId: string }) => (
  <Modal {...dialog} title={t('foxglove.title')}>
    {dialog.opened && <NewAddress sessionId={sessionId} />}
  </Modal>
)

/** Creates an address when the user asks for it, not earlier: it is valid for one minute only. */
function NewAddress({ sessionId }: { sessionId: string }) {
  const create = useWrite((rest) => rest.POST('/api/sessions/{id}/foxglove', byId(sessionId)))
  return (
    <Stack>
      <List type="ordered" size="sm" spacing={4}>
        <List.Item>{t('foxglove.choose')}</List.Item>
        <List.Item>{t('foxglove.paste')}</List.Item>
      </List>
      <Group>
        <Button loading={create.isPending} onClick={() => create.mutate()}>
          {t('foxglove.create')}
        </Button>
      </Group>
      <Problem error={create.error} />
      {create.data && (
        <>
          <CopyableSecret label={t('foxglove.address')} value={create.data.url} />
          <Text size="sm">{t('foxglove.secret')}</Text>
        </>
      )}
    </Stack>
  )
}

export function FoxgloveButton({ sessionId }: { sessionId: string }) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {t('foxglove.title')}
      </Button>
      <FoxgloveDialog sessionId={sessionId} opened={opened} onClose={() => setOpened(false)} />
    </>
  )
}
