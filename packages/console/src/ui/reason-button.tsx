import { Button, type ButtonProps, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type FormEvent, type ReactNode, useState } from 'react'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

interface Props extends ButtonProps {
  readonly question: string
  readonly consequence: ReactNode
  /** The label of the confirm button. */
  readonly confirmLabel: string
  /** The dialog closes on success and shows the error on failure. */
  readonly onConfirm: (reason: string) => Promise<unknown>
  readonly 'aria-label'?: string
}

/** Renders a button whose action requires a reason, which the other user sees. */
export function ReasonButton({ question, consequence, confirmLabel, onConfirm, children, ...button }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const confirm = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm(reason)
      setReason('')
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
        <form onSubmit={(event) => void confirm(event)}>
          <Stack>
            <Text>{consequence}</Text>
            <Textarea
              label={t('ui.reason')}
              value={reason}
              onChange={({ currentTarget: { value } }) => setReason(value)}
              maxLength={2_000}
              autosize
              minRows={2}
              required
              data-autofocus
            />
            <Problem error={error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t('common.cancel')}
              </Button>
              <Button color="red.9" type="submit" loading={busy} disabled={reason.trim() === ''}>
                {confirmLabel}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
