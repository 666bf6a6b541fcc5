import { Button, Group } from '@mantine/core'
import { Saved } from './saved.tsx'
import { Problem } from './states.tsx'

interface Change {
  readonly error: unknown
  readonly isPending: boolean
  readonly isSuccess: boolean
}

/** The end of a form: what went wrong, unless the fields say it themselves, the button, and that it was saved. */
export const FormFooter = ({ change, explained = false }: { change: Change; explained?: boolean }) => (
  <>
    {!explained && <Problem error={change.error} />}
    <Group>
      <Button type="submit" loading={change.isPending}>
        Save
      </Button>
      <Saved when={change.isSuccess} />
    </Group>
  </>
)
