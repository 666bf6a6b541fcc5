import { eventTitle, reasonText } from '@wheelhouse/protocol'
import { type Piece, type Style, styled } from './text.ts'

const STYLES: Readonly<Record<string, Style>> = {
  AVAILABLE: 'green',
  ACTIVE: 'green',
  IN_SESSION: 'cyan',
  PAUSED: 'yellow',
  PENDING: 'cyan',
  OFFLINE: 'dim',
  COMPLETED: 'dim',
  CANCELLED: 'dim',
  DELIVERED: 'green',
  RECORDING: 'red',
  FINISHING: 'cyan',
  RUNNING: 'cyan',
  READY: 'green',
  FAILED: 'red',
}

/** Returns a status in its colour. */
export const statusPiece = (status: string): Piece => styled(STYLES[status] ?? 'reset', status)

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Formats a time in this machine's zone, to the minute. */
export function formatTime(time: string | null | undefined): string | undefined {
  if (!time) return undefined
  const date = new Date(time)
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-')
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`
}

/** Returns the time of day in this machine's zone; `--:--:--` for an invalid time. */
export function clockOf(time: string | number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return '--:--:--'
  return date.toTimeString().slice(0, 8)
}

/** Formats an amount of money. */
export const formatMoney = (cents: number | null | undefined, currency = 'EUR') =>
  cents === null || cents === undefined ? undefined : `${(cents / 100).toFixed(2)} ${currency}`

const KIB = 1024

/** Formats a number of bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`
  if (bytes < KIB ** 2) return `${(bytes / KIB).toFixed(0)} KiB`
  if (bytes < KIB ** 3) return `${(bytes / KIB ** 2).toFixed(1)} MiB`
  return `${(bytes / KIB ** 3).toFixed(2)} GiB`
}

/** Formats the time between two times, such as `1:02:05`. */
export function formatDuration(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  const rest = `${twoDigits(minutes)}:${twoDigits(seconds % 60)}`
  return hours > 0 ? `${hours}:${rest}` : rest
}

/** Returns an entry of a session's log, or an event, as one line. */
export function logLine(entry: { seq: number; at: string; type: string; data: object }): Piece[] {
  const { seq, at, type, data } = entry
  const more = Object.keys(data).length > 0 ? ` ${JSON.stringify(data)}` : ''
  const why = 'reason' in data ? reasonText(data.reason) : ''
  const title = why ? `${eventTitle(type)}: ${why}` : eventTitle(type)
  return [
    styled('dim', `${seq}`.padStart(5)),
    `  ${formatTime(at)}  ${title} `,
    styled('dim', `${type}${more}`),
  ]
}
