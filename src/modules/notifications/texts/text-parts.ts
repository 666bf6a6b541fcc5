import type { NotificationType } from '@wheelhouse/protocol'

/** The text of a notification in a mail: a subject, and one or two sentences. */
export interface NotificationText {
  readonly subject: string
  readonly text: string
}

/** The data of a notification. Another version may have written it, so nothing in it is certain. */
export type Data = Readonly<Record<string, unknown>>

/** All texts of mails and pushed notifications in one language. */
export interface MailTexts {
  /**
   * The text of each notification type. The texts contain names but no reasons or comments of other users, so that a user
   * cannot make the platform send arbitrary text.
   */
  readonly kinds: Readonly<Record<NotificationType, (data: Data) => NotificationText>>
  /** The text of a type that only a newer process knows. */
  readonly unknown: NotificationText
  /** Why the recipient gets a mail about notifications. */
  readonly why: string
  readonly unsubscribe: string
  /** The end of the subject of a mail about several notifications. */
  readonly others: (count: number) => string
  readonly older: (count: number) => string
  readonly openConsole: string
  readonly openSession: string
  readonly openExport: string
}

const MAX_NAME_LENGTH = 60

/**
 * Returns a name that another user chose: on one line, shortened, without control characters, invisible characters or
 * characters that change the text direction.
 */
export function plainName(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .toWellFormed()
    .trim()
  const short = [...line].slice(0, MAX_NAME_LENGTH).join('')
  return short === line ? line : `${short}...`
}

export const minutesOf = ({ additional_minutes }: Data): number => Number(additional_minutes) || 0
export const eurosOf = ({ amount_cents }: Data): number => (Number(amount_cents) || 0) / 100
export const percentOf = ({ battery }: Data): number => Math.round((Number(battery) || 0) * 100)
export const daysOf = ({ unused_days }: Data): number => Number(unused_days) || 0
export const rowsOf = ({ rows }: Data): number => Number(rows) || 0

/** Returns the month of an invoice such as `2026-11`; undefined without one. */
export const monthOf = ({ month }: Data): string | undefined =>
  /^\d{4}-\d{2}$/.test(String(month)) ? String(month) : undefined

/** Formats a time in UTC, because the recipient's time zone is not known; undefined for something else. */
export function utcTime(value: unknown): string | undefined {
  const at = new Date(String(value))
  return Number.isNaN(at.getTime()) ? undefined : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
