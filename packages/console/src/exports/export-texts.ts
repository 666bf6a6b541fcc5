import { sessionStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { dateTime } from '../ui/format.ts'
import type { StoredExport } from './use-exports.ts'

/** The steps at which progress is announced to screen readers, in percent. */
const ANNOUNCED_STEP = 25

const list = new Intl.ListFormat(language, { type: 'unit', style: 'short' })

/** Returns which sessions an export contains. `robotName` is undefined when it is not known. */
export function filterText(
  { search, status, robotId, from, to }: StoredExport['filter'],
  robotName?: string,
): string {
  const parts = [
    search && t('exports.filter.search', { search }),
    status && t('exports.filter.status', { status: sessionStatusTexts[status] }),
    robotId && (robotName ?? t('exports.filter.oneRobot')),
    from && t('exports.filter.from', { date: startText(from) }),
    to && endText(to),
  ].filter((part): part is string => Boolean(part))
  if (parts.length === 0) return t('exports.filter.all')
  return t('exports.filter.some', { conditions: list.format(parts) })
}

/** Returns how much of an export is written, in percent. The total is an estimate, so 100 means ready. */
export const percentOf = ({ rows, total_rows }: StoredExport): number =>
  total_rows === 0 ? 0 : Math.min(99, Math.floor((100 * rows) / total_rows))

/** Returns what a screen reader announces about an export. It changes only a few times. */
export function announcementOf(stored: StoredExport): string {
  const format = stored.format.toUpperCase()
  if (stored.status === 'READY') return t('exports.announcement.ready', { format })
  if (stored.status === 'FAILED') return t('exports.announcement.failed', { format })
  const percent = Math.floor(percentOf(stored) / ANNOUNCED_STEP) * ANNOUNCED_STEP
  return percent === 0
    ? t('exports.announcement.running', { format })
    : t('exports.announcement.written', { format, percent })
}

const isMidnight = (at: Date) => at.getHours() === 0 && at.getMinutes() === 0 && at.getSeconds() === 0
const day = (at: Date) =>
  new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric' }).format(at)

const startText = (from: string) => (isMidnight(new Date(from)) ? day(new Date(from)) : dateTime(from))

/** Returns the condition of the exclusive end; an end at midnight as the last day. */
function endText(to: string): string {
  const end = new Date(to)
  return isMidnight(end)
    ? t('exports.filter.until', { date: day(new Date(end.getTime() - 1)) })
    : t('exports.filter.before', { date: dateTime(to) })
}
