import { Button, type ButtonProps, Modal, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { t } from '../texts/texts.ts'
import { DialogButtons, Form } from './form.tsx'
import { Problem } from './states.tsx'

/** Attributes for style sheets and tests. */
type DataAttributes = { readonly [name: `data-${string}`]: string | number | boolean | undefined }

interface DialogProps {
  readonly question: string
  readonly consequence: ReactNode
  /** The label of the confirm button: the action, such as "Revoke". */
  readonly confirmLabel: string
  /** The label of the button that closes the dialog without the action. */
  readonly dismissLabel?: string
  /** The color of the confirm button: red by default, because most confirmed actions are destructive. */
  readonly confirmColor?: string
  /** Whether the action requires a reason, which the other user sees. */
  readonly asksReason?: boolean
  /** The dialog closes on success and shows the error on failure. */
  readonly onConfirm: (reason: string) => Promise<unknown>
}

/** Asks for a confirmation of an action. */
export function ConfirmDialog(props: DialogProps & { opened: boolean; onClose: () => void }) {
  const { opened, onClose, question, consequence, confirmLabel, asksReason = false, onConfirm } = props
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const confirm = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm(reason)
      setReason('')
      onClose()
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={question}
      // While a dialog fades out, it would still take the keys of the page.
      transitionProps={{ exitDuration: 0 }}
      onExitTransitionEnd={() => setError(undefined)}
    >
      <Form onSubmit={() => void confirm()}>
        <Text>{consequence}</Text>
        {asksReason && (
          <Textarea
            label={t('ui.reason')}
            value={reason}
            onChange={({ currentTarget: { value } }) => setReason(value)}
            maxLength={2_000}
            minRows={2}
            required
            data-autofocus
          />
        )}
        <Problem error={error} />
        <DialogButtons
          onCancel={onClose}
          cancelLabel={props.dismissLabel}
          isCancelFirst={!asksReason}
          color={props.confirmColor ?? 'red.9'}
          disabled={asksReason && reason.trim() === ''}
          loading={busy}
        >
          {confirmLabel}
        </DialogButtons>
      </Form>
    </Modal>
  )
}

interface ButtonOptions extends ButtonProps, DataAttributes {
  readonly 'aria-label'?: string
}

/**
 * Renders a button whose action requires a confirmation. Without children its label is that of the confirm button. One with a colour
 * is filled, as is its confirm button.
 */
export function ConfirmButton(props: ButtonOptions & DialogProps) {
  const { question, consequence, confirmLabel, dismissLabel, asksReason, onConfirm, ...rest } = props
  const { children = confirmLabel, confirmColor = rest.color, ...button } = rest
  const [opened, { open, close }] = useDisclosure(false)
  const dialog = { question, consequence, confirmLabel, dismissLabel, confirmColor, asksReason, onConfirm }
  return (
    <>
      <Button variant={button.color ? 'filled' : 'default'} {...button} onClick={open}>
        {children}
      </Button>
      <ConfirmDialog {...dialog} opened={opened} onClose={close} />
    </>
  )
}

/** Asks for a confirmation before the user leaves a page that would lose something, or closes the browser. */
export function LeaveDialog(
  props: Omit<DialogProps, 'onConfirm'> & {
    readonly isNeeded: () => boolean
    /** Runs when the dialog opens. Stable between renders. */
    readonly onAsk?: () => void
  },
) {
  const { isNeeded, onAsk, ...dialog } = props
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isNeeded,
    enableBeforeUnload: isNeeded,
    withResolver: true,
  })
  const isAsking = status === 'blocked'
  useEffect(() => {
    if (isAsking) onAsk?.()
  }, [isAsking, onAsk])
  return (
    <ConfirmDialog
      {...dialog}
      opened={isAsking}
      onClose={() => reset?.()}
      onConfirm={async () => proceed?.()}
    />
  )
}
