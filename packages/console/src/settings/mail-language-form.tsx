import { Select } from '@mantine/core'
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { messageOf } from '../ui/message-of.ts'
import { type NotificationSettings, useSettingsChange } from './notification-settings.ts'

const isLanguage = (value: string): value is Language => Object.hasOwn(LANGUAGES, value)

/** Selects the language of mails and of notifications in closed browsers. */
export function MailLanguageForm({ saved }: { saved: NotificationSettings }) {
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
