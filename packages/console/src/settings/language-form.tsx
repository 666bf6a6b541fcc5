import { Select } from '@mantine/core'
import { chosenLanguage, LANGUAGES, type Language } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { useSelectLanguage } from './mail-language.ts'

const SYSTEM = 'system'

const isLanguage = (value: string): value is Language => Object.hasOwn(LANGUAGES, value)

/** Selects the language of the console in this browser. */
export function LanguageForm() {
  const selectLanguage = useSelectLanguage()
  return (
    <Select
      label={t('settings.language.label')}
      description={t('settings.language.note')}
      data={[
        { value: SYSTEM, label: t('settings.language.system') },
        ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label })),
      ]}
      value={chosenLanguage() ?? SYSTEM}
      onChange={(value) => value !== null && selectLanguage(isLanguage(value) ? value : undefined)}
      allowDeselect={false}
    />
  )
}
