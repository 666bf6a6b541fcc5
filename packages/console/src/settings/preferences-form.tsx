import { Stack, Switch } from '@mantine/core'
import { useMe } from '../auth/me.ts'
import { Problem } from '../ui/states.tsx'
import { useProfileChange } from './use-profile-change.ts'

/** Each switch saves by itself. */
export function PreferencesForm() {
  const { notification_preferences: saved } = useMe()
  const change = useProfileChange()
  // A change that is under way already shows.
  const shown = { ...saved, ...(change.isPending && change.variables.notification_preferences) }
  const set = (preference: Partial<typeof saved>) => change.mutate({ notification_preferences: preference })
  return (
    <Stack>
      <Switch
        label="By mail"
        description="What stays unread for a while is sent to your e-mail address"
        checked={shown.email}
        onChange={(event) => set({ email: event.currentTarget.checked })}
      />
      <Switch
        label="Live"
        description="Told in this console as it happens; the list of notifications has it in any case"
        checked={shown.push}
        onChange={(event) => set({ push: event.currentTarget.checked })}
      />
      <Problem error={change.error} />
    </Stack>
  )
}
