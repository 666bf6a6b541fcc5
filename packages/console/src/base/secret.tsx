import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { CopyableSecret } from './copyable.tsx'

/** A secret with an explanation. */
export interface OneTimeSecret {
  readonly title: string
  readonly note: string
  readonly label: string
  readonly value: string
}

interface Props extends Pick<ModalProps, 'opened' | 'onClose'> {
  /** Called when the dialog is hidden, to drop the secret. */
  readonly onClosed: () => void
  /** The title before the secret is shown. */
  readonly title: string
  readonly shown: OneTimeSecret | undefined
  readonly children: ReactNode
}

/** Renders a form dialog that ends with a secret, shown once. An accidental click or Escape does not close it then. */
export const SecretDialog = ({ opened, onClose, onClosed, title, shown, children }: Props) => (
  <Modal
    opened={opened}
    onClose={onClose}
    closeOnClickOutside={!shown}
    closeOnEscape={!shown}
    onExitTransitionEnd={onClosed}
    title={shown?.title ?? title}
  >
    {shown ? (
      <Stack>
        {/* It gets the focus, so that screen readers read it. */}
        <Text tabIndex={-1} ref={(note: HTMLElement | null) => note?.focus()}>
          {shown.note}
        </Text>
        <CopyableSecret label={shown.label} value={shown.value} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('ui.secret.done')}</Button>
        </Group>
      </Stack>
    ) : (
      children
    )}
  </Modal>
)
