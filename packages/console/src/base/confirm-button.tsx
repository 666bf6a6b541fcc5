import { Button, type ButtonProps, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type FormEvent, type ReactNode, useState } from 'react'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

/** Attributes for style sheets and tests. */
type DataAttributes = { readonly [name: `data-${string}`]: string | number | boolean | undefined }

interface Props extends ButtonProps, DataAttributes {
  readonly question: string
  readonly consequence: ReactNode
  /** The label of the confirm button: the action, such as "Revoke". */
  readonly confirmLabel: string
  /** The label of the button that closes the dialog without the action. */
  readonly dismissLabel?: string
  /** The color of the confirm button. Red by default, because most confirmed actions are destructive. */
  readonly confirmColor?: string
  /** The dialog closes on success and shows the error on failure. */
  readonly onConfirm: () => Promise<unknown>
  readonly 'aria-label'?: string
}

/** Renders a button whose action requires a confirmation. */
export function ConfirmButton({
  question,
  consequence,
  confirmLabel,
  dismissLabel = t('common.cancel'),
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
      <Modal
        opened={opened}
        onClose={close}
        title={question}
        // While a dialog fades out, it would still take the keys of the page.
        transitionProps={{ exitDuration: 0 }}
        onExitTransitionEnd={() => setError(undefined)}
      >
        <Stack>
          <Text>{consequence}</Text>
          <Problem error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {dismissLabel}
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

interface ReasonButtonProps extends ButtonProps {
  readonly question: string
  readonly consequence: ReactNode
  /** The label of the confirm button. */
  readonly confirmLabel: string
  /** The dialog closes on success and shows the error on failure. */
  readonly onConfirm: (reason: string) => Promise<unknown>
  readonly 'aria-label'?: string
}

/** Renders a button whose action requires a reason, which the other user sees. */
export function ReasonButton({
  question,
  consequence,
  confirmLabel,
  onConfirm,
  children,
  ...button
}: ReasonButtonProps) {
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
