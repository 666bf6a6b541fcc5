import { notifications } from '@mantine/notifications'
import { chooseLanguage, type Language } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'

/** Stores the language and reloads the page; undefined for the language of the browser. Says so if the browser forbids storage. */
export function selectLanguage(language: Language | undefined): void {
  try {
    chooseLanguage(language)
  } catch {
    notifications.show({ message: t('ui.language.notStored'), color: 'red.9' })
  }
}
