import { Button, type ButtonProps, Group, Stack, Text } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { type ChangeEvent, type ComponentProps, useEffect, useRef, useState } from 'react'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

/** Renders a form: its fields below each other. A submission does not leave the page. */
export const Form = ({
  onSubmit,
  children,
  ...form
}: Omit<ComponentProps<'form'>, 'onSubmit'> & { onSubmit: () => void }) => (
  <form
    {...form}
    onSubmit={(event) => {
      event.preventDefault()
      event.stopPropagation() // a dialog may be a part of another form
      onSubmit()
    }}
  >
    <Stack>{children}</Stack>
  </form>
)

interface DialogButtonsProps extends ButtonProps {
  readonly onCancel: () => void
  readonly cancelLabel?: string | undefined
  /** Whether the dialog opens with the focus on the button that cancels. */
  readonly isCancelFirst?: boolean
  /** The action; without it the button submits its form. */
  readonly onClick?: () => void
}

/** Renders the foot of a dialog: a button that closes it, and the one of its action. */
export const DialogButtons = (props: DialogButtonsProps) => {
  const { onCancel, cancelLabel = t('common.cancel'), isCancelFirst, ...action } = props
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel} {...(isCancelFirst && { 'data-autofocus': true })}>
        {cancelLabel}
      </Button>
      <Button type={action.onClick ? 'button' : 'submit'} {...action} />
    </Group>
  )
}

/**
 * Holds the values of fields: `<TextInput {...field('name')} />`. A refetch does not overwrite them.
 * @param error of the rejected request, to show at its fields
 */
export function useFields<V extends object>(initial: V | (() => V), error?: unknown, onChange?: () => void) {
  const [values, setValues] = useState(initial)
  const errors = fieldErrors(error, Object.keys(values) as (keyof V & string)[])
  const change = (part: Partial<V>) => {
    onChange?.()
    setValues((old) => ({ ...old, ...part }))
  }
  const field = <F extends keyof V & string>(name: F) => ({
    value: values[name],
    error: errors?.[name],
    onChange: (next: V[F] | ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      change({ [name]: isEvent(next) ? next.currentTarget.value : next } as Partial<V>),
  })
  return { values, setValues, change, field, errors }
}

/** Returns the properties of the field of a value. */
export type FieldOf<V extends object> = ReturnType<typeof useFields<V>>['field']

const isEvent = (next: unknown): next is ChangeEvent<HTMLInputElement> =>
  typeof next === 'object' && next !== null && 'currentTarget' in next

interface Change {
  readonly error: unknown
  readonly isPending: boolean
  readonly isSuccess: boolean
}

/** Renders the footer of a form: the error, unless the fields show it, the save button and the saved note. */
export function FormFooter({ change, explained = false }: { change: Change; explained?: boolean }) {
  const button = useRef<HTMLButtonElement>(null)
  const [isTouched, setTouched] = useState(false)
  // On a page with several forms, only the one that waits for a save has the filled button.
  useEffect(() => {
    const form = button.current?.form
    const touch = () => setTouched(true)
    form?.addEventListener('input', touch)
    return () => form?.removeEventListener('input', touch)
  }, [])
  useEffect(() => setTouched((was) => was && !change.isSuccess), [change.isSuccess])
  return (
    <>
      {!explained && <Problem error={change.error} />}
      <Group>
        <Button
          ref={button}
          type="submit"
          variant={isTouched ? 'filled' : 'default'}
          loading={change.isPending}
        >
          {t('common.save')}
        </Button>
        <Saved when={change.isSuccess} />
      </Group>
    </>
  )
}

/** Returns the reference to a form whose first wrong field gets the focus when its values were rejected. */
export function useFocusOnError(error: unknown) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  return form
}

/** Shows that a form was saved and announces it to screen readers. */
export const Saved = ({ when }: { when: boolean }) => (
  <Text size="sm" c="dimmed" role="status">
    {when ? t('ui.saved') : ''}
  </Text>
)

/**
 * Returns the errors of form fields in a rejected request, by field: `name: must not be empty; tags.0: …`, or
 * `hardware_id: cannot be registered. …`. Returns undefined for any other error, which the form shows as a whole.
 */
function fieldErrors<F extends string>(
  error: unknown,
  fields: readonly F[],
): Partial<Record<F, string>> | undefined {
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 409)) return undefined
  const errors: Partial<Record<F, string>> = {}
  for (const issue of error.message.split('; ')) {
    const [, name, text] = /^(\w+)(?:\.\d+)?:? (.+)$/.exec(issue) ?? []
    const field = fields.find((known) => known === name)
    if (field === undefined || text === undefined) return undefined
    errors[field] = text.charAt(0).toUpperCase() + text.slice(1)
  }
  return errors
}
