import { Stack, Switch } from '@mantine/core'
import { useMe } from '../auth/me.ts'
import { t } from '../texts/texts.ts'
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
        label={t('settings.preferences.email')}
        description={t('settings.preferences.emailNote')}
        checked={shown.email}
        onChange={(event) => set({ email: event.currentTarget.checked })}
      />
      <Switch
        label={t('settings.preferences.popUps')}
        description={t('settings.preferences.popUpsNote')}
        checked={shown.push}
        onChange={(event) => set({ push: event.currentTarget.checked })}
      />
      <Problem error={change.error} />
    </Stack>
  )
}
