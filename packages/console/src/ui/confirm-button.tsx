import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { Problem } from './states.tsx'

interface Props extends ButtonProps {
  readonly question: string
  readonly consequence: ReactNode
  /** What the confirming button says: the act itself, such as "Revoke". */
  readonly confirmLabel: string
  /** Of the confirming button; red unless told, since most acts that are asked about take something away. */
  readonly confirmColor?: string
  /** The dialog closes when it succeeds, and shows what went wrong when it fails. */
  readonly onConfirm: () => Promise<unknown>
  readonly 'aria-label'?: string
}

/** A button whose act is asked about before it is done. */
export function ConfirmButton({
  question,
  consequence,
  confirmLabel,
  confirmColor = 'red.9',
  onConfirm,
  children,
  ...button
}: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      close()
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={question} onExitTransitionEnd={() => setError(undefined)}>
        <Stack>
          <Text>{consequence}</Text>
          <Problem error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Keep
            </Button>
            <Button color={confirmColor} loading={busy} onClick={() => void confirm()}>
              {confirmLabel}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
