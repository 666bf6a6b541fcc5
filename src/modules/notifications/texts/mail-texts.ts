import type { NotificationType } from '@wheelhouse/protocol'
import type { MailLanguage } from '../settings.schema.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import type { Data, MailTexts, NotificationText } from './text-parts.ts'

const languages: Readonly<Record<MailLanguage, MailTexts>> = { en, de }

/** Returns the texts of mails in a language; in English for users who have not chosen one. */
export const mailTexts = (language: MailLanguage | null): MailTexts => languages[language ?? 'en']

/** Renders a notification for a mail. A type that only a newer process knows gets a generic text. */
export function renderNotification(
  language: MailLanguage | null,
  type: string,
  data: Data,
): NotificationText {
  const { kinds, unknown } = mailTexts(language)
  return Object.hasOwn(kinds, type) ? kinds[type as NotificationType](data) : unknown
}
