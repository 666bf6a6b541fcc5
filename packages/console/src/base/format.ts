import { language, t } from '../texts/texts.ts'

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** Returns an amount of cents as currency in the viewer's language. */
export const money = (cents: number, currency = 'EUR'): string =>
  new Intl.NumberFormat(language, { style: 'currency', currency }).format(cents / 100)

/** Returns date, time and zone name, in the viewer's zone or in `timeZone`. */
export const dateTime = (at: string | number | Date, timeZone?: string): string =>
  new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(timeZone && { timeZone }),
  }).format(new Date(at))

/** Returns the time of day in the viewer's zone. */
export const timeOfDay = (at: Date): string =>
  new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' }).format(at)

/** Returns a relative time: "5 minutes ago", "in 2 hours", "just now". */
export function relative(at: string | number | Date, nowMs = Date.now()): string {
  const seconds = (new Date(at).getTime() - nowMs) / 1000
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit)
  }
  return t('ui.time.justNow')
}

/** Returns the names of the weekdays in the viewer's language, from Monday to Sunday. */
export const weekdayNames = (): string[] => {
  const format = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' })
  // 1 January 2024 was a Monday.
  return Array.from({ length: 7 }, (_, day) => format.format(Date.UTC(2024, 0, 1 + day)))
}

/** Returns the short name of the weekday of a date such as `2026-11-27`. */
export const shortWeekday = (day: string): string =>
  new Intl.DateTimeFormat(language, { weekday: 'short', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  )

/** Returns a label for use within a sentence. German nouns keep their capital. */
export const labelInSentence = (label: string): string =>
  language.startsWith('de') ? label : label.toLowerCase()

/** Returns a length of time in minutes as `1:05 h`. */
export function duration(minutes: number): string {
  const whole = Math.round(minutes)
  return t('ui.time.duration', {
    hours: Math.floor(whole / 60).toLocaleString(language),
    minutes: String(whole % 60).padStart(2, '0'),
  })
}

/** Returns a calendar day in the viewer's zone. */
export const calendarDay = (at: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(at))

/** Returns the month of a time in UTC, as bills have it. */
export const monthOf = (at: string, month: 'long' | 'short' = 'long'): string =>
  new Intl.DateTimeFormat(language, { month, year: 'numeric', timeZone: 'UTC' }).format(new Date(at))

/** Returns seconds as `4:05` or `1:04:05`. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${twoDigits(rest)}` : `${minutes}:${twoDigits(rest)}`
}

/** Returns megabytes (a million bytes) as `812 kB`, `28.4 MB` or `6.1 GB`. */
export function dataSize(megabytes: number): string {
  const [value, unit] =
    megabytes >= 1_000
      ? [megabytes / 1_000, 'gigabyte']
      : megabytes >= 1 || megabytes === 0
        ? [megabytes, 'megabyte']
        : [megabytes * 1_000, 'kilobyte']
  return new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 }).format(value)
}

/** Joins words with commas, in the viewer's language. */
export const shortList = new Intl.ListFormat(language, { type: 'unit', style: 'short' })

/** Returns the time zone of this browser. */
export const viewerZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const formats = new Map<number, Intl.NumberFormat>()

/** Returns a number with this many decimals in the viewer's format, without separators of thousands. */
export function decimals(value: number, digits: number): string {
  let format = formats.get(digits)
  if (!format) {
    format = new Intl.NumberFormat(language, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    })
    formats.set(digits, format)
  }
  // `toFixed` rounds the exact value, `Intl` its shortest decimal: 2.55 is a little less than 2.55.
  return format.format(Number(value.toFixed(digits)))
}
