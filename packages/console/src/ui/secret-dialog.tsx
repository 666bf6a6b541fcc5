import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyableSecret, SecretNote } from './secret.tsx'

/** A secret, and what somebody has to know about it. */
export interface OneTimeSecret {
  readonly title: string
  readonly note: string
  readonly label: string
  readonly value: string
}

interface Props {
  readonly opened: boolean
  readonly onClose: () => void
  /** When it is off the screen: time to forget. */
  readonly onClosed: () => void
  /** While it asks. */
  readonly title: string
  readonly shown: OneTimeSecret | undefined
  readonly children: ReactNode
}

/** A dialog that asks for something and ends with a secret, shown this once: a slip must not lose it. */
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
        <SecretNote>{shown.note}</SecretNote>
        <CopyableSecret label={shown.label} value={shown.value} />
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    ) : (
      children
    )}
  </Modal>
)
