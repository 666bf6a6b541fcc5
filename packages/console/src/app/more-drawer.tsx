import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'

export default function MoreDrawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Drawer opened onClose={onClose} position="bottom" size="auto" title={t('app.shell.navigation')}>
      {children}
    </Drawer>
  )
}
