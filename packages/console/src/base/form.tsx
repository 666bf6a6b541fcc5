import { Button, Group, Text } from '@mantine/core'
import { ApiError } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'
import { Problem } from './states.tsx'

interface Change {
  readonly error: unknown
  readonly isPending: boolean
  readonly isSuccess: boolean
}

/** Renders the footer of a form: the error, unless the fields show it, the save button and the saved note. */
export const FormFooter = ({ change, explained = false }: { change: Change; explained?: boolean }) => (
  <>
    {!explained && <Problem error={change.error} />}
    <Group>
      <Button type="submit" loading={change.isPending}>
        {t('common.save')}
      </Button>
      <Saved when={change.isSuccess} />
    </Group>
  </>
)

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
