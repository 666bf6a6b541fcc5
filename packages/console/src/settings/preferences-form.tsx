import { Stack, Switch } from '@mantine/core'
import { useMe } from '../auth/me.ts'
import { Problem } from '../ui/states.tsx'
import { useProfileChange } from './use-profile-change.ts'

/** Edits notification preferences. Each switch saves immediately. */
export function PreferencesForm() {
  const { notification_preferences: saved } = useMe()
  const change = useProfileChange()
  // Shows a pending change optimistically.
  const shown = { ...saved, ...(change.isPending && change.variables.notification_preferences) }
  const set = (preference: Partial<typeof saved>) => change.mutate({ notification_preferences: preference })
  return (
    <Stack>
      <Switch
        label="E-mail notifications"
        description="Sends unread notifications to your e-mail address."
        checked={shown.email}
        onChange={(event) => set({ email: event.currentTarget.checked })}
      />
      <Switch
        label="Pop-ups"
        description="Shows new notifications in the console."
        checked={shown.push}
        onChange={(event) => set({ push: event.currentTarget.checked })}
      />
      <Problem error={change.error} />
    </Stack>
  )
}
