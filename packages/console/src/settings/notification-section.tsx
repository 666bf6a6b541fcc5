import { Select, Stack, Switch } from '@mantine/core'
import { useMe } from '../platform/platform.ts'
import { PushSection } from '../push/push-section.tsx'
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { messageOf } from '../ui/message-of.ts'
import { Problem, QueryView } from '../ui/states.tsx'
import { NotificationMatrix } from './notification-matrix.tsx'
import {
  type NotificationSettings,
  useNotificationSettings,
  useSettingsChange,
} from './notification-settings.ts'
import { QuietHoursForm } from './quiet-hours-form.tsx'
import { useProfileChange } from './use-profile-change.ts'

/** Edits notification preferences. Each switch saves immediately. */
function PreferencesForm() {
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

const isLanguage = (value: string): value is Language => Object.hasOwn(LANGUAGES, value)

/** Selects the language of mails and of notifications in closed browsers. */
function MailLanguageForm({ saved }: { saved: NotificationSettings }) {
  const change = useSettingsChange()
  return (
    <Select
      label={t('settings.mailLanguage.label')}
      description={t('settings.mailLanguage.note')}
      data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
      value={saved.language ?? 'en'}
      onChange={(value) => value !== null && isLanguage(value) && change.mutate({ language: value })}
      disabled={change.isPending}
      error={change.error && messageOf(change.error)}
      allowDeselect={false}
    />
  )
}

/** Shows how notifications reach the user: the main switches, the browsers, the matrix, the quiet hours and the language. */
export const NotificationSection = () => (
  <>
    <PreferencesForm />
    <PushSection />
    <QueryView query={useNotificationSettings()}>
      {(settings) => (
        <>
          <NotificationMatrix saved={settings} />
          <QuietHoursForm saved={settings} />
          <MailLanguageForm saved={settings} />
        </>
      )}
    </QueryView>
  </>
)
