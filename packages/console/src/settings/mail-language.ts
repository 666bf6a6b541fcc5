import { useEffect } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { type Language, languageOf } from '../texts/languages.ts'
import { language as shownLanguage } from '../texts/texts.ts'
import { selectLanguage } from '../ui/select-language.ts'

const ofBrowser = (): Language => languageOf(navigator.languages) ?? 'en'

/** Returns a function that changes the language of the console, and of mails with it; undefined: that of the browser. */
export function useSelectLanguage(): (language: Language | undefined) => void {
  const { rest } = usePlatform()
  return (language) => {
    const body = { language: language ?? ofBrowser() }
    // The page reloads before the answer. Without it, the settings still show the former language of mails.
    rest.PATCH('/api/notifications/settings', { body, keepalive: true }).catch(() => undefined)
    selectLanguage(language)
  }
}

/** Sends a new user mails in the language of the console. */
export function useFirstMailLanguage(): void {
  const { rest } = usePlatform()
  useEffect(() => {
    const body = { language: languageOf([shownLanguage]) ?? 'en' }
    rest.PATCH('/api/notifications/settings', { body }).catch(() => undefined)
  }, [rest])
}
