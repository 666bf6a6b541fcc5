import { Button } from '@mantine/core'
import { useState } from 'react'
import { t } from '../texts/texts.ts'
import { FoxgloveDialog } from './foxglove-dialog.tsx'

/** Opens the dialog that creates addresses for Foxglove. */
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
