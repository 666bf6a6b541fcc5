import { notifications } from '@mantine/notifications'
import type { Schemas } from '@wheelhouse/sdk'
import { useEffect } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useWrite } from '../platform/rest.ts'
import { chooseLanguage, type Language, languageOf } from '../texts/languages.ts'
import { language as shownLanguage, t } from '../texts/texts.ts'

interface ProfileChange {
  readonly display_name?: string
  readonly notification_preferences?: Partial<Schemas['Profile']['notification_preferences']>
  readonly role?: 'client' | 'operator'
}

/** Changes the account and updates the cached profile. */
export const useProfileChange = () =>
  useWrite((rest, body: ProfileChange) => rest.POST('/api/auth/profile', { body }), {
    stores: keys.profile,
    refresh: [keys.onboarding],
  })

/**
 * Returns a function that changes the language of the console, and of mails with it, and reloads the page; undefined: that of the
 * browser. It says so if the browser forbids storage.
 */
export function useSelectLanguage(): (language: Language | undefined) => void {
  const { rest } = usePlatform()
  return (language) => {
    const body = { language: language ?? languageOf(navigator.languages) ?? 'en' }
    // The page reloads before the answer. Without it, the settings still show the former language of mails.
    rest.PATCH('/api/notifications/settings', { body, keepalive: true }).catch(() => undefined)
    try {
      chooseLanguage(language)
    } catch {
      notifications.show({ message: t('ui.language.notStored'), color: 'red.9' })
    }
  }
}

const OFF = { in_app: false, mail: false, push: false }
/** Routine of which a new user finds a line in the list only. What stops, is lost, runs low, costs or asks for an answer is sent. */
const ROUTINE = { sessions: OFF, pauses: OFF, exports: OFF, webhooks: OFF }

/** Sends a new user mails in the language of the console, and no notifications of routine. */
export function useFirstNotificationSettings(): void {
  const { rest } = usePlatform()
  useEffect(() => {
    const body = { language: languageOf([shownLanguage]) ?? 'en', matrix: ROUTINE } as const
    rest.PATCH('/api/notifications/settings', { body }).catch(() => undefined)
  }, [rest])
}
