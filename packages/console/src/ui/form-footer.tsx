import { Button, Group } from '@mantine/core'
import { t } from '../texts/texts.ts'
import { Saved } from './saved.tsx'
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
