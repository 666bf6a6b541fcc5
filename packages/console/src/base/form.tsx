import { Button, Group, Text } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { useEffect, useRef, useState } from 'react'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

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
export function fieldErrors<F extends string>(
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
